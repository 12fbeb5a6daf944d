; An installer with our own steps (src-tauri/installer.nsh) and without Tauri's, of 64 bits, which is what Wine here can run.
; -DOUT=… -DWHERE=… -DPROGRAM=… -DHOOKS=…
Target amd64-unicode
; What is tried is not how small it gets.
SetCompress off
!include LogicLib.nsh
!include WinMessages.nsh
Name "Satchel"
OutFile "${OUT}"
InstallDir "${WHERE}"
RequestExecutionLevel user
SilentInstall silent
SilentUnInstall silent
Var UpdateMode
!include "${HOOKS}"

Section
  SetOutPath "$INSTDIR"
  !insertmacro NSIS_HOOK_PREINSTALL
  File "/oname=satchel.exe" "${PROGRAM}"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  !insertmacro NSIS_HOOK_POSTINSTALL
SectionEnd

Section Uninstall
  StrCpy $UpdateMode 0
  !insertmacro NSIS_HOOK_PREUNINSTALL
  Delete "$INSTDIR\satchel.exe"
  Delete "$INSTDIR\uninstall.exe"
  !insertmacro NSIS_HOOK_POSTUNINSTALL
SectionEnd

; What the installer for Windows does beyond Tauri's own steps: `satchel` is found in a terminal, and an update does not fail
; because editors run the bridge. docs/registers/platforms.md says how it is tried.

; A running program can be renamed, but neither overwritten nor deleted: bridges go on with the old one until their editor ends.
!macro NSIS_HOOK_PREINSTALL
  ${If} ${FileExists} "$INSTDIR\satchel.exe"
    nsExec::Exec '"$INSTDIR\satchel.exe" quit'
    Pop $0
    Delete "$INSTDIR\satchel-old-*.exe"
    System::Call 'kernel32::GetTickCount() i .r0'
    Rename "$INSTDIR\satchel.exe" "$INSTDIR\satchel-old-$0.exe"
  ${EndIf}
!macroend

; Written by Satchel and not here: a search path longer than 1,023 characters would be cut off here.
!macro NSIS_HOOK_POSTINSTALL
  nsExec::Exec '"$INSTDIR\satchel.exe" search-path add'
  Pop $0
  Delete "$INSTDIR\satchel-old-*.exe"
  SendMessage ${HWND_BROADCAST} ${WM_SETTINGCHANGE} 0 "STR:Environment" /TIMEOUT=500
!macroend

; Clients keep their entries: `satchel leave` takes them out, for whoever wants that.
!macro NSIS_HOOK_PREUNINSTALL
  nsExec::Exec '"$INSTDIR\satchel.exe" quit'
  Pop $0
  ${If} $UpdateMode <> 1
    nsExec::Exec '"$INSTDIR\satchel.exe" search-path remove'
    Pop $0
    SendMessage ${HWND_BROADCAST} ${WM_SETTINGCHANGE} 0 "STR:Environment" /TIMEOUT=500
  ${EndIf}
!macroend

!macro NSIS_HOOK_POSTUNINSTALL
  Delete "$INSTDIR\satchel-old-*.exe"
  RMDir "$INSTDIR"
!macroend

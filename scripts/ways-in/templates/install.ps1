# Installs the command line of Satchel @VERSION@ for this user, without administrator rights. Run it again to install anew.
#
#   irm @DOWNLOAD@/install.ps1 | iex
#
# SATCHEL_INSTALL_DIR    where the program goes; %LOCALAPPDATA%\Programs\Satchel otherwise
# SATCHEL_DOWNLOAD       where the archive comes from; what is fetched must have the checksum below all the same
& {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue'
    $download = if ($env:SATCHEL_DOWNLOAD) { $env:SATCHEL_DOWNLOAD } else { '@DOWNLOAD@' }
    $directory = if ($env:SATCHEL_INSTALL_DIR) { $env:SATCHEL_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\Satchel' }

    # A 32-bit PowerShell says what the computer is in the second variable.
    $machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    switch ($machine) {
        'AMD64' { $archive = '@FILE:cli-windows-x64@'; $sum = '@SHA256:cli-windows-x64@' }
        'ARM64' { $archive = '@FILE:cli-windows-arm64@'; $sum = '@SHA256:cli-windows-arm64@' }
        default { throw "satchel: there is no archive for $machine." }
    }

    $work = Join-Path ([IO.Path]::GetTempPath()) ("satchel-" + [Guid]::NewGuid())
    New-Item -ItemType Directory -Path $work | Out-Null
    try {
        Write-Output "Fetching $archive"
        $file = Join-Path $work $archive
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
        Invoke-WebRequest -UseBasicParsing -Uri "$download/$archive" -OutFile $file
        $found = (Get-FileHash -Algorithm SHA256 -Path $file).Hash.ToLowerInvariant()
        if ($found -ne $sum) {
            throw "satchel: $archive is not the file of this release and was not installed: its SHA-256 is $found, expected $sum."
        }
        Expand-Archive -Path $file -DestinationPath $work
        $program = Join-Path $work ($archive -replace '\.zip$', '') | Join-Path -ChildPath 'satchel.exe'
        New-Item -ItemType Directory -Force -Path $directory | Out-Null
        $installed = Join-Path $directory 'satchel.exe'
        if (Test-Path $installed) {
            & $installed quit 2>$null | Out-Null
            # Bridges that run hold the file; it can be renamed all the same.
            Get-ChildItem $directory -Filter 'satchel-old-*.exe' | Remove-Item -ErrorAction SilentlyContinue
            Move-Item $installed (Join-Path $directory ("satchel-old-" + [Guid]::NewGuid() + ".exe"))
        }
        Move-Item $program $installed
        & $installed search-path add | Out-Null
        Write-Output "Installed $(& $installed --version) in $directory."
        Write-Output 'Open a new terminal. Next: satchel import --dry-run'
    }
    finally {
        Remove-Item -Recurse -Force $work
    }
}

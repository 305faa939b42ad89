# Installs what of this stack runs on the host itself, one installer of native/ after another, and then starts the rest
# in containers. Running it again changes nothing that is already right. Run it in PowerShell as administrator.
$ErrorActionPreference = 'Stop'
Set-Location -Path $PSScriptRoot

# Fills in .env as scripts/start.sh does: adds what is missing, never changes a value that is there.
function Write-StackEnv {
    $values = @{}
    if (Test-Path .env) {
        foreach ($line in Get-Content .env) {
            if ($line -match '^([A-Z][A-Z0-9_]*)=(.*)$') { $values[$Matches[1]] = $Matches[2] }
        }
    }
    $generator = [System.Security.Cryptography.RandomNumberGenerator]::Create()
    function Get-Bytes([int]$count) {
        $bytes = New-Object byte[] $count
        $generator.GetBytes($bytes)
        , $bytes
    }
    $marker = $null
    $text = New-Object System.Collections.Generic.List[string]
    foreach ($line in Get-Content .env.example) {
        if ($line -match '^# generate: (\S+) (\d+) ?(\S*)$') { $marker = @($Matches[1], [int]$Matches[2], $Matches[3]) }
        if ($line -notmatch '^([A-Z][A-Z0-9_]*)=(.*)$') { $text.Add($line); continue }
        $name = $Matches[1]
        $value = $Matches[2]
        if ($values.ContainsKey($name)) { $value = $values[$name] }
        if ($marker -and $value -eq '') {
            $length = $marker[1]
            $random = switch ($marker[0]) {
                'hex' { (-join (Get-Bytes ([int][math]::Ceiling($length / 2)) | ForEach-Object { $_.ToString('x2') })).Substring(0, $length) }
                'alnum' { -join (Get-Bytes ($length * 4) | Where-Object { $_ -lt 248 } | Select-Object -First $length | ForEach-Object { 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'[$_ % 62] }) }
                'base64' { [Convert]::ToBase64String((Get-Bytes $length)) }
                'uuid' { [guid]::NewGuid().ToString() }
                default { throw "unknown format of a secret: $($marker[0])" }
            }
            $value = $marker[2] + $random
        }
        $marker = $null
        $text.Add("$name=$value")
    }
    [System.IO.File]::WriteAllText((Join-Path $PSScriptRoot '.env'), (($text -join "`n") + "`n"))
    icacls .env /inheritance:r /grant:r "$($env:USERNAME):F" | Out-Null
}

if (-not (Get-Command docker -ErrorAction SilentlyContinue)) { throw 'Docker Desktop is not installed: see https://docs.docker.com/desktop/setup/install/windows-install/' }
Write-StackEnv
foreach ($id in Get-Content native/order) {
    if ($id -eq '') { continue }
    $installer = "native/windows/$id.ps1"
    if (-not (Test-Path $installer)) { throw "$id has no installer for Windows: ask for the stack again with platform windows/amd64" }
    Write-Output "== $id"
    & $installer
}
docker compose up -d --remove-orphans
docker compose ps

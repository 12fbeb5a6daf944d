cask "satchel" do
  version "@VERSION@"
  sha256 "@SHA256:app-macos@"

  url "@DOWNLOAD@/@FILE:app-macos@"
  name "Satchel"
  desc "One hub for all MCP servers"
  homepage "https://github.com/@REPOSITORY@"

  conflicts_with formula: "satchel-cli"
  depends_on macos: ">= :monterey"

  app "Satchel.app"
  binary "#{appdir}/Satchel.app/Contents/MacOS/satchel"

  uninstall quit:         "io.satchel.desktop",
            launchctl:    "Satchel",
            login_item:   "Satchel"

  zap trash: [
    "~/Library/Application Support/satchel",
    "~/Library/LaunchAgents/Satchel.plist",
    "~/Library/WebKit/io.satchel.desktop",
  ]
end

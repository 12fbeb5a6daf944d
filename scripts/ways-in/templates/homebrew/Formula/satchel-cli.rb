class SatchelCli < Formula
  desc "One hub for all MCP servers, on the command line"
  homepage "https://github.com/@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["Apache-2.0", "MIT"]

  on_macos do
    url "@DOWNLOAD@/@FILE:cli-macos@"
    sha256 "@SHA256:cli-macos@"
  end

  on_linux do
    on_intel do
      url "@DOWNLOAD@/@FILE:cli-linux-x64@"
      sha256 "@SHA256:cli-linux-x64@"
    end
    on_arm do
      url "@DOWNLOAD@/@FILE:cli-linux-arm64@"
      sha256 "@SHA256:cli-linux-arm64@"
    end
  end

  def install
    bin.install "satchel", "satchel-reaper"
    generate_completions_from_executable(bin/"satchel", "completions")
    system bin/"satchel", "man", buildpath/"man1"
    man1.install Dir["man1/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/satchel --version")
  end
end

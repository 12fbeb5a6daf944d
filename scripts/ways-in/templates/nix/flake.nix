{
  description = "One hub for all MCP servers, on the command line";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      archives = {
        x86_64-linux = { name = "@FILE:cli-linux-x64@"; sha256 = "@SHA256:cli-linux-x64@"; };
        aarch64-linux = { name = "@FILE:cli-linux-arm64@"; sha256 = "@SHA256:cli-linux-arm64@"; };
        x86_64-darwin = { name = "@FILE:cli-macos@"; sha256 = "@SHA256:cli-macos@"; };
        aarch64-darwin = { name = "@FILE:cli-macos@"; sha256 = "@SHA256:cli-macos@"; };
      };
      package = system: archive:
        let pkgs = nixpkgs.legacyPackages.${system}; in
        pkgs.stdenvNoCC.mkDerivation {
          pname = "satchel";
          version = "@VERSION@";
          src = pkgs.fetchurl { url = "@DOWNLOAD@/${archive.name}"; inherit (archive) sha256; };
          nativeBuildInputs = [ pkgs.installShellFiles ];
          installPhase = ''
            install -Dm755 -t $out/bin satchel satchel-reaper
            installShellCompletion --cmd satchel \
              --bash <($out/bin/satchel completions bash) \
              --fish <($out/bin/satchel completions fish) \
              --zsh <($out/bin/satchel completions zsh)
            $out/bin/satchel man $out/share/man/man1
          '';
          meta = {
            description = "One hub for all MCP servers, on the command line";
            homepage = "https://github.com/@REPOSITORY@";
            license = with pkgs.lib.licenses; [ asl20 mit ];
            mainProgram = "satchel";
            platforms = builtins.attrNames archives;
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: archive: { default = package system archive; }) archives;
    };
}

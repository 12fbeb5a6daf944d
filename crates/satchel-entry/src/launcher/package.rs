//! A package as a command line names it: its name, its version, and whether that is exact.

/// A naming scheme of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ecosystem {
    /// `@scope/name@1.2.3`.
    Npm,
    /// `name[extra]==1.2.3`, `git+https://…@commit`.
    PyPi,
    /// `registry/name:tag@sha256:…`.
    Image,
    /// `Name@1.2.3`.
    NuGet,
    /// `module/path@v1.2.3`.
    Go,
}

/// A package as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its naming scheme.
    pub ecosystem: Ecosystem,
    /// As written.
    pub text: String,
    /// The position among the entry's arguments of the word that ends with it; `None` inside a shell's line.
    pub at: Option<usize>,
}

impl Package {
    pub(super) fn new(ecosystem: Ecosystem, text: String, at: Option<usize>) -> Self {
        Self { ecosystem, text, at }
    }

    /// Is it a place rather than a package of an index?
    pub fn is_place(&self) -> bool {
        let text = self.text.as_str();
        let windows = text.as_bytes().get(1) == Some(&b':');
        match self.ecosystem {
            Ecosystem::Image => false,
            _ => text.starts_with(['.', '/', '~']) || windows || text.contains("://"),
        }
    }

    /// Its name without the version, with the scope: `@scope/name`, `name[extra]`, `registry/name`.
    pub fn name(&self) -> &str {
        let text = self.text.as_str();
        match self.ecosystem {
            Ecosystem::Image => {
                let bare = text.split('@').next().unwrap_or(text);
                let start = bare.rfind('/').map_or(0, |slash| slash + 1);
                bare[start..].find(':').map_or(bare, |colon| &bare[..start + colon])
            }
            _ if text.starts_with("git+") || text.contains("://") => {
                let (before, after) = text.split_at(text.rfind('/').unwrap_or(0));
                &text[..before.len() + after.find('@').unwrap_or(after.len())]
            }
            _ => text.split_at(end_of_name(text)).0.trim_end(),
        }
    }

    /// What it is called: without scope, owner, extras and ending.
    pub fn short(&self) -> &str {
        let name = self.name().split('[').next().unwrap_or_default();
        let name = name.trim_end_matches(['/', '\\']);
        let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let last = last.strip_suffix(".git").unwrap_or(last);
        // `example.com/tool/v2` is the second version of `tool`.
        let major =
            last.strip_prefix('v').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match self.ecosystem == Ecosystem::Go && major {
            true => name.rsplit('/').nth(1).unwrap_or(last),
            false => last,
        }
    }

    /// The exact version that it names: a number, a commit, or the digest of an image.
    pub fn version(&self) -> Option<&str> {
        let text = self.text.as_str();
        match self.ecosystem {
            Ecosystem::Image => {
                text.split_once('@').map(|(_, digest)| digest).filter(|one| one.starts_with("sha256:"))
            }
            _ if text.starts_with("git+") => {
                let (_, commit) = text.rsplit_once('@')?;
                (commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(commit)
            }
            _ => {
                let rest = &text[end_of_name(text)..];
                let version = rest
                    .strip_prefix("===")
                    .or_else(|| rest.strip_prefix("=="))
                    .or_else(|| rest.strip_prefix('@'));
                version.map(str::trim).filter(|version| is_exact(version))
            }
        }
    }

    /// Does the launcher run whatever is newest?
    pub fn floats(&self) -> bool {
        !self.is_fixed_place() && self.version().is_none()
    }

    /// A path or file has no version of its own; a repository has its commits.
    fn is_fixed_place(&self) -> bool {
        self.is_place() && !self.text.starts_with("git+")
    }
}

/// The end of a package's name, in bytes: before its version, range or marker.
fn end_of_name(package: &str) -> usize {
    let ends = |(at, c): &(usize, char)| *at > 0 && "@=<>!~ ;^".contains(*c);
    package.char_indices().find(ends).map_or(package.len(), |(at, _)| at)
}

/// `1.2.3`, possibly with a suffix; no range, no tag.
pub fn is_exact(version: &str) -> bool {
    let numbers = version.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() >= 2
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

//! Finds the image that an entry runs, for gateways that support only images and addresses.

use super::{left_out, reference::References};
use crate::{
    model::{ServerName, TransportConfig, left::Left},
    registry::pinning,
};

/// A container image and its arguments.
pub(super) struct Container<'a> {
    pub(super) image: String,
    /// The arguments after the image.
    args: &'a [String],
}

impl Container<'_> {
    /// The arguments after the image, if any. Left out if they contain references.
    pub(super) fn arguments(
        &self,
        name: &ServerName,
        references: &mut References,
        left: &mut Vec<Left>,
    ) -> Option<Vec<String>> {
        let args: Option<Vec<String>> = self.args.iter().map(|arg| references.plain(arg)).collect();
        if args.is_none() {
            let why = "its arguments, in which references stand; write them by hand";
            left.push(left_out(name.as_str(), why));
        }
        args.filter(|args| !args.is_empty())
    }
}

/// The container that an entry runs; `None` for anything else, which is left out with a hint on how to build an image.
/// Container options other than variables are left out too.
pub(super) fn container<'a>(
    name: &ServerName,
    transport: &'a TransportConfig,
    engine: &str,
    left: &mut Vec<Left>,
) -> Option<Container<'a>> {
    let TransportConfig::Stdio { command, args, .. } = transport else { return None };
    let packages = pinning::packages(transport);
    let runs_image = args.first().is_some_and(|word| word == "run");
    let Some(image) = packages.first().filter(|_| runs_image) else {
        let way = match packages.first() {
            Some(package) => format!("{engine} runs images; `thv build` makes one of {}", package.text),
            None => format!("{engine} runs images, and \"{command}\" is a program of this computer"),
        };
        left.push(left_out(name.as_str(), &way));
        return None;
    };
    let at = image.at.unwrap_or(args.len());
    let (options, args) = (&args[..at], args.get(at + 1..).unwrap_or_default());
    for option in options.iter().filter(|word| is_left_out(word)) {
        left.push(left_out(name.as_str(), &format!("the option {option} of its container")));
    }
    Some(Container { image: image.text.clone(), args })
}

/// Is this an option other than the standard ones for such containers: interactive, temporary, variables?
fn is_left_out(word: &str) -> bool {
    word.starts_with('-')
        && !matches!(word, "-i" | "-t" | "-it" | "--rm" | "--init" | "-e" | "--env" | "--interactive")
}

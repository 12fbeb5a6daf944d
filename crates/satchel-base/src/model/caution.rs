//! What a person should know before a server is taken in, or why it is not: a code, its parts and the English sentence, so
//! that a face can say it in its own language. Parts are names, versions and addresses that strangers wrote, cleaned.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Caution {
    /// What there is to say.
    pub code: CautionCode,
    /// What its sentence is about, in the order of its code.
    pub parts: Vec<String>,
    /// In English. A code whose name begins with a verb has no subject: "mounts …".
    pub text: String,
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<CautionCode> for Caution {
    fn from(code: CautionCode) -> Self {
        code.with([] as [&str; 0])
    }
}

impl Caution {
    /// As a sentence of its own, with a subject: "it mounts …".
    #[must_use]
    pub fn whole(self) -> Self {
        let text = if self.code < CautionCode::MixedTitle { format!("it {}", self.text) } else { self.text };
        Self { text, ..self }
    }
}

/// All of them as one clause: "does this; it does that".
pub fn joined(cautions: &[Caution]) -> String {
    cautions.iter().map(|caution| caution.text.as_str()).collect::<Vec<_>>().join("; it ")
}

macro_rules! cautions {
    ($($code:ident: $text:literal,)*) => {
        /// What there is to say; the sentence is beside each in the source.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[serde(rename_all = "snake_case")]
        pub enum CautionCode {
            $(#[doc = $text] $code,)*
        }

        impl CautionCode {
            fn template(self) -> &'static str {
                match self {
                    $(Self::$code => $text,)*
                }
            }

            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$code),*];
        }
    };
}

impl CautionCode {
    /// With its parts.
    pub fn with<T: Into<String>>(self, parts: impl IntoIterator<Item = T>) -> Caution {
        let parts: Vec<String> = parts.into_iter().map(Into::into).collect();
        Caution { code: self, text: filled(self.template(), &parts), parts }
    }
}

/// Each `{0}` with its part; a part that looks like one itself stays as it is.
fn filled(template: &str, parts: &[String]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (number, rest) = piece.split_once('}').unwrap_or(("", piece));
        let part = number.parse::<usize>().ok().and_then(|at| parts.get(at));
        text.push_str(part.map_or("", String::as_str));
        text.push_str(rest);
    }
    text
}

cautions! {
    // What a launch does besides running its server.
    SetsLoader: "sets {0}, which decides what code is loaded or where it comes from",
    RunsWritten: "runs what is written here ({0})",
    ReadsSecret: "reads a secret from {0} at each start",
    RunsSeveral: "runs more than one command, in {0}",
    TellsEngine: "tells {0} {1}: containers of another place or with other settings",
    SharesNetwork: "shares this computer's network with the container ({0})",
    SharesProcesses: "shares this computer's processes with the container ({0})",
    SharesNamespaces: "shares this computer's namespaces with the container ({0})",
    GivesEveryRight: "gives the container every right on this computer (--privileged)",
    PassesVariable: "passes your variable {0} on to the container",
    WeakensIsolation: "weakens the container's isolation ({0})",
    HandsSocket: "hands the container {0}, and with it this computer",
    MountsDisk: "lets the container read and change the whole disk",
    MountsPlace: "lets the container read and change {0}",
    ReadsPlace: "lets the container read {0}",
    RunsOtherPackage: "has {0} run the package {1} ({2})",
    TellsLauncher: "tells {0} {1}: another package, place or program than it names",
    BringsOtherCode: "passes {1} to {0}, which then loads other code",

    // Addresses and headers.
    HasCredentials: "has credentials in its address",
    BreaksHeader: "has a line break or control character in a header",
    SetsHeader: "sets the header {0}, which belongs to the connection",
    LeadsInside: "leads to {0}, which is this computer or its own network",

    // What a description lacks or asks for.
    LacksWay: "has no such package or address",
    Listens: "is a program that listens at an address of its own, and Satchel starts no such programs; start it yourself, then add its address with `satchel add NAME --url ADDRESS`",
    HasTwoWays: "describes itself in two ways at once",
    NamesNoPackage: "names no package of {0}: \"{1}\"",
    BuildsWith: "would be built from source, which Satchel does not do; run `{0}`, then `satchel add NAME -- PROGRAM`",
    HasUnknownKind: "has the package type \"{0}\", which Satchel does not know",
    NamesRange: "names no exact version (\"{0}\"), so what runs could change by itself",
    NamesNoVersion: "names no version, so what runs could change by itself",
    NamesNoImage: "names no image: \"{0}\"",
    TakesImageFrom: "takes its image from {0}, which the registry does not allow",
    NamesNoDigest: "names no SHA-256 of its bundle, so the download could not be verified",
    NamesBadDigest: "names an invalid SHA-256",
    NamesNoBundle: "names no address of its bundle",
    FetchesPlain: "would fetch its bundle without encryption",
    FetchesInside: "names an address of its bundle that leads to this computer or its own network",
    TakesPackageFrom: "takes its package from another place than the usual one: {0}",
    SpeaksOver: "uses the transport \"{0}\", which Satchel does not support",
    NamesBadAddress: "names an invalid address",
    NamesNoAddress: "names no address: \"{0}\"",
    NamesOtherAddress: "names an address that is not on the web: \"{0}\"",
    NamesNoHost: "names an address with no plain host: \"{0}\"",
    HasUnexplained: "has {0} in its address and does not say what that is",
    HasBadHeader: "has a header with an invalid name: \"{0}\"",
    SetsBadVariable: "sets a variable with an invalid name: \"{0}\"",
    HasUnpassable: "has a text that cannot be passed to a program",
    RunsAnother: "runs another package than it names",
    TellsUnknown: "passes its launcher something that is not known to be harmless: {0}",
    TellsHarmful: "passes its launcher something that is not harmless: {0}",

    // Answers.
    TakesNoInput: "takes no input, and \"{0}\" was given",
    HasNoInput: "has no input \"{0}\"; it has {1}",
    TakesOneValue: "takes one value for {0}",
    NeedsPassable: "needs a value that can be passed on for {0}",
    NeedsChoice: "needs one of {1} for {0}",
    NeedsNumber: "needs a number for {0}",
    NeedsBoolean: "needs true or false for {0}",
    NeedsPath: "needs an absolute path for {0}",
    NeedsHostPart: "takes only letters, digits and hyphens for {0}: it is put into the server's address",
    NeedsPathPart: "takes only letters, digits and -._~ for {0}: it is put into the server's address",

    // Sentences of their own.
    MixedTitle: "its title mixes letters of several alphabets and is left out",
    HiddenCharacters: "invisible characters were removed from its texts",
    OtherOwner: "its publisher and the owner of its repository ({0}) are not the same",
    NameInOtherCase: "its name differs from {0} only in upper and lower case",
    OtherLink: "an address that is not on the web was left out",
    ReadsLikeOrder: "its description reads like an instruction to a model",
    OtherLauncher: "it asks to be run by \"{0}\"; {1} is used instead",
    BundleChecked: "its bundle is fetched and must have the SHA-256 {0}",
    ImagePinned: "\"{0}\" is pulled at installation, and pinned to the digest that it has then",
    AddressInside: "it leads to {0}, which is this computer or its own network",
    AddressPlain: "others on the network can read what is sent to it: its address is not encrypted",
    Deprecated: "it is deprecated",
    DeprecatedFor: "it is deprecated: {0}",
    ChangedInPlace: "the registry's {0} differs from what was installed: it was changed in place, and is not applied",
    HeldPackage: "{0} names another package, and is held back",

    KnownThere: "{0} is known only to the other program; it is imported switched off",

    // What another program says of a server that is imported.
    RenamedPath: "the name \"{0}\" was changed to \"{1}\" because it is a path",
    RenamedControl: "the name \"{0}\" was changed to \"{1}\" because it has control characters",
    RenamedBlank: "the name \"{0}\" was changed to \"{1}\" because it begins or ends with a blank",
    RenamedOption: "the name \"{0}\" was changed to \"{1}\" because it begins as an option of a command does",
    RenamedUnseen: "the name \"{0}\" was changed to \"{1}\" because it has invisible characters",
    RenamedNothing: "the name \"{0}\" was changed to \"{1}\" because no other part of it can be a name",
    RenamedLong: "the name \"{0}\" was changed to \"{1}\" because it is longer than {2} characters",
    RenamedAlike: "the name \"{0}\" was changed to \"{1}\" because it has letters that look like others: {2}",
    RenamedTaken: "the name \"{0}\" was changed to \"{1}\" because another server is called \"{2}\", ignoring case",
    KeepsSignIns: "{0} keeps sign-ins in plain text in {1}, which Satchel does not read; once you have signed in here, sign out there",
    SecretsInArguments: "its command line has {0}, which every program of this computer can read while it runs",
    GetsStored: "it asks for {0} for {1}; it gets the value you store for it, and nothing else",
    GoesTo: "{0} of this computer goes to {1}",
    AskedThere: "the other program asks for {0}; here it is a secret, which you set after the import",
    CommandThere: "the other program runs a command for {0}; here it is a secret, which you set after the import",
    FileThere: "the other program reads a file for {0}; here it is a secret, which you set after the import",
    NoToolThere: "none of its tools may be called there; so it is here",
    OnlyToolsThere: "only these tools may be called, as there: {0}",
    ToolsOffThere: "these tools are switched off, as there: {0}",
    ToolsUnaskedThere: "tools that run without a question there ({0}) are treated by what they do here",
    OtherProgram: "the description asks for \"{0}\"; {1} is used",
    OtherSource: "the package comes from {0} instead of the usual registry",
    NoExactVersion: "no exact version is named, so what runs may change by itself",
    SignatureUnchecked: "it has a signature that cannot be checked: {0}",
    SignedAlone: "it is signed by \"{0}\" (who vouches for that name alone; certificate {1}…)",
    SignedWith: "it is signed by \"{0}\" (a name that \"{2}\" vouches for, which was not checked; certificate {1}…)",
    AlteredAlone: "it was changed after it was signed by \"{0}\" (who vouches for that name alone; certificate {1}…)",
    AlteredWith: "it was changed after it was signed by \"{0}\" (a name that \"{2}\" vouches for, which was not checked; certificate {1}…)",

    // Why nothing was done.
    DeletedThere: "\"{0}\" is not installed: its registry has deleted it",
    DeletedFor: "\"{0}\" is not installed: its registry has deleted it: {1}",
    NotListed: "no registry lists \"{0}\"",
    VersionNotListed: "no registry lists \"{0}\" in version {1}",
    NotListedAnyMore: "{0} does not list {1} any more, or not in that version",
    UpToDate: "\"{0}\" runs {1} already, and no newer version is offered",
    UpdateHeld: "the update of \"{0}\" to {1} is held back: it names another package than the installed one ({2}, not {3})",
    WayIsGone: "{0} of \"{1}\" cannot be run as {2} any more",
    ReleaseChanged: "the registry's {0} of {1} differs from what was installed, and is not applied",
    NotFromRegistry: "\"{0}\" was not installed from a registry, so no update of it is known",
    StillNeeds: "\"{0}\" needs {1}",
    WantsConsent: "\"{0}\" is not installed until you accept this: {1}",
    ShownBefore: "what \"{0}\" would run changed after it was shown",
    ImageUnknown: "cannot resolve the image \"{0}\": {1}",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_made_of_its_parts() {
        assert_eq!(
            CautionCode::MountsDisk.with([""; 0]).whole().text,
            "it lets the container read and change the whole disk"
        );
        assert_eq!(CautionCode::Deprecated.with([""; 0]).whole().text, "it is deprecated");
        let caution = CautionCode::UpToDate.with(["ledger", "1.2.0"]);
        assert_eq!(caution.to_string(), "\"ledger\" runs 1.2.0 already, and no newer version is offered");
        assert_eq!(
            CautionCode::HasUnexplained.with(["{team}"]).text,
            "has {team} in its address and does not say what that is"
        );
    }

    #[test]
    fn every_part_of_a_sentence_is_one_of_its_first_four() {
        let parts: Vec<String> = ["\u{1}", "\u{2}", "\u{3}", "\u{4}"].map(ToOwned::to_owned).to_vec();
        for code in CautionCode::ALL {
            let text = code.with(parts.clone()).text;
            assert!(!text.contains(['{', '}']), "{code:?}: {text:?}");
            assert!(!text.starts_with(char::is_uppercase) && !text.ends_with('.'), "{code:?}: {text}");
        }
    }
}

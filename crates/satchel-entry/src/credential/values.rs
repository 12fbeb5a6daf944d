//! Judges a value by its form alone: empty, a switch, a number, a path, a placeholder, or like a key.

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Empty,
    Reference,
    Placeholder,
    Switch,
    Number { digits: usize },
    Path,
    Address,
    Text,
}

/// Values of switches.
const SWITCHES: &str = "true false yes no on off null nil none undefined enabled disabled required optional default always never \
    auto automatic prompt keychain keyring ask basic bearer oauth oauth2 jwt token password apikey api_key api-key plain \
    anonymous anon public private readonly read-only strict lax cookie header query env file vault memory";
/// Prefixes of keys of well-known services, with so few other uses that letters may follow.
const DISTINCT: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "glptt-",
    "glcbt-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxe-",
    "xoxr-",
    "xoxs-",
    "xoxc-",
    "xoxd-",
    "xapp-",
    "ya29.",
    "eyJ",
    "pypi-",
    "sat_",
    "ntn_",
    "lin_api_",
    "lin_oauth_",
    "sk-ant-",
    "sk-proj-",
    "sk-or-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "dop_v1_",
    "doo_v1_",
    "dor_v1_",
    "shpat_",
    "shpss_",
    "shpca_",
    "shppa_",
    "sq0atp-",
    "sq0csp-",
    "figd_",
    "figo_",
    "gsk_",
    "pplx-",
    "tvly-",
    "nvapi-",
    "sntrys_",
    "sntryu_",
    "glsa_",
    "glc_",
    "dckr_pat_",
    "PMAK-",
    "phx_",
    "ATATT3",
    "ATCTT3",
    "BBDC-",
    "AGE-SECRET-KEY-",
    "hvs.",
    "hvb.",
    "hvr.",
    "tskey-",
    "CFPAT-",
    "ops_eyJ",
    "rubygems_",
    "sbp_",
    "sb_secret_",
    "nfp_",
    "whsec_",
    "rzp_live_",
    "rzp_test_",
    "secret_ntn",
    "CLOJARS_",
    "oy2",
    "pscale_tkn_",
    "pscale_pw_",
    "EAACEdEose0cBA",
    "SG.",
    "hf_",
    "r8_",
    "npm_",
    "xai-",
    "fc-",
    "AKIA",
    "ASIA",
    "AIza",
    "LTAI",
];
/// Prefixes that other words have too: a digit has to follow.
const COMMON: &[&str] =
    &["sk-", "sk_", "pk_", "rk_", "secret_", "key-", "dapi", "pat", "rnd_", "co_", "ak-", "ak_"];

pub(super) fn form(value: &str) -> Form {
    if value.is_empty() {
        return Form::Empty;
    }
    if is_reference(super::after_scheme(value)) {
        return Form::Reference;
    }
    if is_placeholder(super::after_scheme(value)) {
        return Form::Placeholder;
    }
    if SWITCHES.split_ascii_whitespace().any(|switch| value.eq_ignore_ascii_case(switch)) {
        return Form::Switch;
    }
    if let Some(digits) = number(value) {
        return Form::Number { digits };
    }
    if is_path(value) {
        return Form::Path;
    }
    match value.split_once("://") {
        Some((scheme, _)) if is_scheme(scheme) && !value.contains(char::is_whitespace) => Form::Address,
        _ => Form::Text,
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':'))
}

/// `${…}`, `{{…}}`, `{env:…}`, `$NAME`, `%NAME%`.
pub(super) fn is_reference(value: &str) -> bool {
    let braced = |open: &str, close: &str| {
        value.find(open).is_some_and(|start| value[start + open.len()..].contains(close))
    };
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    braced("${", "}")
        || braced("{{", "}}")
        || braced("{env:", "}")
        || value.strip_prefix("$env:").is_some_and(is_name)
        || value.strip_prefix('$').is_some_and(is_name)
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(is_name)
}

/// `<your token>`, `YOUR_API_KEY`, `xxxx`, `sk-...`, `changeme`.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let marked =
        value.starts_with('<') && value.ends_with('>') || value.starts_with('[') && value.ends_with(']');
    let known = [
        "changeme",
        "change-me",
        "change_me",
        "replaceme",
        "replace-me",
        "replace_me",
        "todo",
        "placeholder",
        "tbd",
    ];
    let bare = lower.trim_matches(['"', '\'', '<', '>', '[', ']', '{', '}', '(', ')']);
    let words = |text: &str| text.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '_' | ' ' | '.'));
    let asks = ["your", "my-", "my_", "insert", "replace", "enter", "paste", "put", "add-your", "add_your"]
        .iter()
        .any(|start| bare.starts_with(start));
    let your = bare.starts_with("your")
        || bare.contains("your-")
        || bare.contains("your_")
        || bare.ends_with("here");
    let rest = DISTINCT.iter().chain(COMMON).find_map(|start| value.strip_prefix(start)).unwrap_or(value);
    let filled = (rest.len() >= 3 || rest.len() < value.len() && !rest.is_empty())
        && rest.chars().all(|c| matches!(c, 'x' | 'X' | '*' | '.' | '…' | '•' | '-' | '_' | '?'));
    marked && !value.starts_with("[{") && !value.contains(['"', ':'])
        || known.contains(&bare)
        || words(bare) && (your || asks && bare.contains(['-', '_', ' ']))
        || filled
}

/// The number of its digits.
fn number(value: &str) -> Option<usize> {
    let rest = value.strip_prefix(['-', '+']).unwrap_or(value);
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let is_number =
        digits > 0 && rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b','));
    let unit = || {
        let bare = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        rest.len() - bare.len() <= 2
            && !bare.is_empty()
            && bare.len() <= 6
            && bare.bytes().all(|byte| byte.is_ascii_digit())
    };
    (is_number || unit()).then_some(digits)
}

fn is_path(value: &str) -> bool {
    let bytes = value.as_bytes();
    let windows = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/')
        && !value[1..].starts_with("://");
    let begins =
        ["~/", "./", "../", "~\\", ".\\", "file://", "\\\\"].iter().any(|start| value.starts_with(start));
    let of_words = |part: &str| {
        part.len() <= 40
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ' | '@'))
            && !is_mixed(part)
    };
    let absolute = value
        .strip_prefix('/')
        .is_some_and(|rest| (rest.contains('/') || rest.contains('.')) && rest.split('/').all(of_words));
    let named = value.rsplit_once('.').is_some_and(|(start, ending)| {
        let known = [
            "json", "pem", "key", "p12", "pfx", "crt", "cer", "txt", "toml", "yaml", "yml", "env", "pub",
            "jks",
        ];
        known.contains(&ending) && !start.is_empty() && start.split('/').all(of_words)
    });
    value == "~" || windows || begins || absolute || named
}

/// Does it begin like a key of a well-known service?
pub fn looks_like_key(word: &str) -> bool {
    let fits = |rest: &str| {
        rest.chars().all(|c| {
            c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '+' | '/' | '~' | ':' | '%')
        })
    };
    // The publishable keys of a service.
    let public = word.starts_with("pk_live_") || word.starts_with("pk_test_");
    if word.len() < 16 || !word.is_ascii() || public {
        return false;
    }
    let rest = |list: &[&str]| list.iter().find_map(|start| word.strip_prefix(start).map(ToOwned::to_owned));
    if let Some(rest) = rest(DISTINCT) {
        // `npm_config_registry`, `hf_hub_download_timeout`: words.
        let has_digit = rest.bytes().any(|byte| byte.is_ascii_digit());
        let run = rest.split(['-', '_', '.']).map(str::len).max().unwrap_or_default();
        return fits(&rest) && (has_digit || run >= 16) && !is_placeholder(word);
    }
    rest(COMMON).is_some_and(|rest| {
        let digits = rest.bytes().filter(u8::is_ascii_digit).count();
        let run = rest.split(['-', '_', '.']).map(str::len).max().unwrap_or_default();
        fits(&rest) && run >= 12 && digits > 0
    })
}

/// Like a key rather than a word: for names that may be either.
pub(super) fn is_likely(value: &str) -> bool {
    let value = super::after_scheme(value);
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let login =
        value.split_once(':').is_some_and(|(user, password)| !user.is_empty() && !password.is_empty());
    !value.contains(char::is_whitespace) && (value.len() >= 16 || digit && value.len() >= 6 || login)
}

/// Settings without a credential: `Server=localhost;Trusted_Connection=yes`.
pub(super) fn is_settings(value: &str) -> bool {
    let all = |separator: char| {
        let mut pairs = value.split(separator).filter(|pair| !pair.trim().is_empty());
        pairs.all(|pair| pair.split_once('=').is_some_and(|(name, _)| !name.trim().is_empty()))
    };
    value.contains('=') && (all(';') || all(' '))
}

/// Longer than a name, of both cases and digits.
fn is_mixed(part: &str) -> bool {
    let any = |of: fn(&u8) -> bool| part.bytes().any(|byte| of(&byte));
    part.len() >= 20 && any(u8::is_ascii_digit) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase)
}

/// Mixed so that no person wrote it: both cases and digits throughout.
pub(super) fn is_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    if bytes.len() < 32
        || !bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-'))
    {
        return false;
    }
    let count = |of: fn(&u8) -> bool| bytes.iter().filter(|byte| of(byte)).count();
    let class = |byte: u8| (byte.is_ascii_uppercase(), byte.is_ascii_lowercase(), byte.is_ascii_digit());
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    count(u8::is_ascii_uppercase) >= 3
        && count(u8::is_ascii_lowercase) >= 3
        && count(u8::is_ascii_digit) >= 3
        && changes * 3 >= bytes.len()
}

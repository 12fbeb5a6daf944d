//! Judges the name of a value by its words. The last noun decides, unless a word behind it says that the value is something
//! of that noun: its file, its limit, its name.

use super::FieldKind;
use crate::name_words;

/// What a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedField {
    /// A credential; `numeric` if a number may be one.
    Secret { numeric: bool },
    /// A credential, where the value looks like one.
    Likely,
    /// A database or a service, perhaps with a credential.
    Connection,
    /// An address whose path may be the credential.
    Webhook,
    /// Something else.
    Harmless,
    /// No known word.
    Nothing,
}

/// Secrets that may be numbers or ordinary words.
const NUMERIC: &str = "password passwords passwd passwort passwörter kennwort passphrase passcode pwd pass pw pin otp totp cvv cvc \
    ssn mdp contraseña contrasena senha wachtwoord lösenord losenord adgangskode passord hasło haslo heslo şifre sifre \
    parola salasana motdepasse пароль 密码 口令 パスワード 비밀번호 pincode";
/// Other secrets.
const SECRETS: &str = "secret secrets token credential credentials creds cred apikey apikeys mnemonic pat jwt cookie \
    cookies bearer authorization geheimnis zugangsdaten segredo secreto segreto jeton geheim schlüsselwort 密钥 令牌 \
    privatekey secretkey accesskey accesstoken authtoken refreshtoken sessionid sessionkey apitoken";
/// Words for a key, in some languages. One alone denotes a key of anything.
const KEYS: &str = "key keys schlüssel schluessel clé cle clave llave chave chiave sleutel klucz ключ";
/// Keys that are secret.
const OF_KEYS: &str = "api app application access secret private auth encryption encrypt crypto cipher signing sign license \
    licence recovery ssh pgp master root service account session storage admin deploy deployment subscription write \
    ingest ingestion hmac aes rsa shared shared developer dev integration webhook host vault unseal token login \
    registration activation product client consumer";
/// Keys that are not.
const NOT_OF_KEYS: &str = "sort sorting primary foreign partition cache group grouping order ordering index row column col map \
    dict range lookup join merge hot shortcut arrow enter escape tab ctrl control public pub translation message i18n \
    locale event routing topic object file idempotency idempotent dedup dedupe unique composite candidate natural surrogate \
    answer legend meta metadata tag label name field property prop attribute attr json query search filter state bucket \
    prefix suffix feature flag issue project space board kms piano music major minor hash shard rowset distribution sig \
    sequence time date id foreignkey parent child root_object data value pair press function modifier meta_key alt shift \
    up down left right home end delete insert any pivot selection item list node tree graph edge cell sheet config \
    setting option env environment variable entity record document doc page session_storage content resource publishable anon anonymous";
/// Words behind a secret that make it something of the secret.
const ABOUT: &str = "count counts limit limits max min maximum minimum length len size sizes url urls uri uris endpoint \
    endpoints path paths file files filename dir dirs directory folder name names id ids type types version versions \
    expiry expires expire expiration expired ttl timeout lifetime age format mode modes enabled enable disabled disable \
    required optional header headers prefix suffix field fields column columns env envvar variable var policy provider \
    providers manager store stores backend backends algorithm alg algo source sources location ref reference arn scope \
    scopes scheme schemes method methods budget window usage cost price per rotation cache index bits generator validator \
    regex pattern rules rule strength hint label placeholder description desc command cmd helper script callback interval \
    seconds minutes hours days ms retries retry rate rates quota threshold issuer audience claims leeway domain domains \
    host hosts port region account user username users login email project parser processor handler service server \
    client factory class module plugin adapter driver strategy flow kind state status through env_file exchange \
    introspection revocation validation verification check checks encoder decoder encoding vocab vocabulary tokenizer \
    bucket buckets chunk chunks overlap stream estimate estimator estimation counter model models layout map mapping \
    binding bindings board code_length screen dialog prompt title color consent jar secure samesite options option \
    config configuration settings setting example template docs doc help link page number_of created updated at date \
    time rotated revoked valid validity period only on off agent sock socket";
/// Words behind a secret that change nothing.
const NEUTRAL: &str = "value here text string again plain raw current new old prod production dev development staging stage \
    test testing live main primary secondary backup personal work private base hex encoded json default my the v api";
/// What stands between a thing and its owner, or between a part and the whole.
const OF: &str = "of for de do da di del du des von van der la";
/// Words before a secret that ask for a yes or a number instead.
const ASKING: &str = "enable enabled disable disabled use uses using require requires required allow allows no not skip has is \
    with without show hide check validate verify generate rotate max min num number count total n per ignore force \
    accept supports support want needs should can auto print log mask redact";
/// Tokens of texts and of lists.
const OTHER_TOKENS: &str = "input output prompt completion context reasoning thinking page next previous prev continuation \
    continue sync cursor eos bos pad padding unk sep cls mask stop special first last image audio cached pagination";
/// Pins of hardware, and passes of an algorithm.
const OTHER_PINS: &str = "gpio led cs sda scl tx rx mosi miso clk data input output button relay servo sensor digital analog pwm \
    trigger echo signal ground power motor buzzer board version";
const OTHER_PASSES: &str =
    "num first second third two three multi single high low band all render by shadow boarding season";
/// Pairs that denote a secret.
const PAIRS: [(&str, &str); 33] = [
    ("recovery", "code"),
    ("recovery", "codes"),
    ("backup", "code"),
    ("backup", "codes"),
    ("security", "code"),
    ("verification", "code"),
    ("time", "code"),
    ("authenticator", "code"),
    ("auth", "code"),
    ("access", "code"),
    ("fa", "code"),
    ("mfa", "code"),
    ("pass", "code"),
    ("pin", "code"),
    ("card", "number"),
    ("credit", "card"),
    ("security", "number"),
    ("seed", "phrase"),
    ("seed", "words"),
    ("recovery", "phrase"),
    ("recovery", "words"),
    ("secret", "phrase"),
    ("backup", "phrase"),
    ("pass", "phrase"),
    ("pass", "word"),
    ("mot", "passe"),
    ("de", "passe"),
    ("otp", "seed"),
    ("totp", "seed"),
    ("wallet", "seed"),
    ("hd", "seed"),
    ("master", "seed"),
    ("mnemonic", "seed"),
];
/// Pairs of a key, or a secret, with its identifier: useless without each other, and kept together.
const IDENTIFIED: [(&str, &str); 5] =
    [("access", "key"), ("api", "key"), ("approle", "secret"), ("role", "secret"), ("vault", "secret")];
/// Endings of words that are written together.
const GLUED: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "kennwort",
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "accesstoken",
    "token",
    "secret",
    "credentials",
    "mnemonic",
    "pwd",
];
/// What stands before `pass`, `pw` and `auth` in words written together.
const SERVICES: &str = "db user usr my root admin ssh smtp imap pop mail email ftp sftp mysql pg postgres redis mongo ldap proxy wifi \
    keystore truststore store sudo login http https app vnc rdp api vpn sql mssql oracle git svn nas";

pub(super) fn of(name: &str, place: FieldKind) -> NamedField {
    let mut words: Vec<String> = name_words::of(name).into_iter().flat_map(unglued).collect();
    // `-Dapi.key=…`
    if place == FieldKind::Flag && words.first().is_some_and(|word| word == "d") {
        words.remove(0);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let [word] = words.as_slice()
        && let Some(named) = alone(word, place)
    {
        return named;
    }
    let Some((at, named)) = (0..words.len()).rev().find_map(|at| Some((at, noun(&words, at, place)?))) else {
        return otherwise(&words);
    };
    let (before, after) = (&words[..at], &words[at + 1..]);
    let of_it = before.iter().position(|word| is(OF, word));
    if of_it.is_some_and(|of| before[..of].iter().any(|word| is(ABOUT, word))) {
        return NamedField::Harmless;
    }
    if before.iter().any(|word| is(ASKING, word)) && !is_asked_of(before) {
        return NamedField::Harmless;
    }
    behind(named, &words, at, after)
}

/// What the words behind a noun make of it.
fn behind(named: NamedField, words: &[&str], at: usize, after: &[&str]) -> NamedField {
    let identified = after == ["id"]
        && (IDENTIFIED.iter().any(|(one, two)| at > 0 && words[at - 1] == *one && words[at] == *two)
            || words[at] == "session");
    if identified {
        return NamedField::Secret { numeric: false };
    }
    if after.first().is_some_and(|word| is(OF, word)) {
        return named;
    }
    if after.iter().any(|word| is(ABOUT, word)) {
        return otherwise(words);
    }
    if after.iter().all(|word| is(NEUTRAL, word)) {
        return named;
    }
    // `TOKEN_GITHUB` is one; `PASS_THROUGH` and `PIN_SPACING` are not.
    match named {
        NamedField::Secret { .. }
            if ["password", "secret", "token", "apikey", "key", "credentials"].contains(&words[at]) =>
        {
            NamedField::Likely
        }
        NamedField::Connection | NamedField::Webhook => named,
        NamedField::Secret { .. } | NamedField::Likely | NamedField::Harmless | NamedField::Nothing => {
            NamedField::Harmless
        }
    }
}

/// What a noun at this position denotes.
fn noun(words: &[&str], at: usize, place: FieldKind) -> Option<NamedField> {
    let word = words[at];
    let before = at.checked_sub(1).map(|at| words[at]);
    let follows = |list: &str| before.is_some_and(|before| is(list, before));
    let secret = |numeric| Some(NamedField::Secret { numeric });
    if before.is_some_and(|before| PAIRS.contains(&(before, word))) {
        return secret(true);
    }
    match word {
        "pin" if follows(OTHER_PINS) => Some(NamedField::Harmless),
        "pass" | "passes" if follows(OTHER_PASSES) => Some(NamedField::Harmless),
        "token" | "tokens" if follows(OTHER_TOKENS) => Some(NamedField::Harmless),
        "tokens" if before.is_none() => Some(NamedField::Harmless),
        "tokens" => Some(NamedField::Likely),
        "cookie" | "cookies" if before == Some("accept") => Some(NamedField::Harmless),
        _ if is(NUMERIC, word) => secret(true),
        _ if is(SECRETS, word) => secret(false),
        _ if is(KEYS, word) => Some(key(words, at)),
        "sid" if follows("account message call service workspace project") => Some(NamedField::Harmless),
        "auth" | "dsn" | "sk" | "sid" | "passkey" | "psk" => Some(NamedField::Likely),
        "salt" | "pepper" => Some(NamedField::Likely),
        "header" if follows("authorization auth") => Some(NamedField::Likely),
        "session" if words.get(at + 1) == Some(&"id") => Some(NamedField::Likely),
        "session" if at + 1 == words.len() && !follows("desktop xdg gui x") => Some(NamedField::Likely),
        "string" | "str" | "strings" if follows("connection conn connect") => Some(NamedField::Connection),
        "connstr" | "connectionstring" => Some(NamedField::Connection),
        "sig" | "signature" | "code" if place == FieldKind::Query => Some(NamedField::Likely),
        "webhook" | "webhooks" | "hook" => Some(NamedField::Webhook),
        _ => None,
    }
}

fn key(words: &[&str], at: usize) -> NamedField {
    let before = at.checked_sub(1).map(|at| words[at]);
    let after = words.get(at + 1).copied();
    match before {
        // `cle_api`, `clave_api`.
        None if after == Some("api") => NamedField::Secret { numeric: false },
        None => NamedField::Likely,
        Some(before) if is(NOT_OF_KEYS, before) => NamedField::Harmless,
        Some(before) if is(OF_KEYS, before) => NamedField::Secret { numeric: false },
        Some(_) if words[at] == "keys" => NamedField::Harmless,
        Some(_) => NamedField::Likely,
    }
}

/// A name of one word.
fn alone(word: &str, place: FieldKind) -> Option<NamedField> {
    match (word, place) {
        ("key" | "apikey", FieldKind::Query) => Some(NamedField::Secret { numeric: false }),
        ("auth" | "sig" | "signature" | "sid" | "code" | "access", FieldKind::Query) => {
            Some(NamedField::Likely)
        }
        (_, FieldKind::UserInfo) => Some(NamedField::Secret { numeric: true }),
        _ => None,
    }
}

/// A name without a secret noun.
fn otherwise(words: &[&str]) -> NamedField {
    if words.iter().any(|word| matches!(*word, "webhook" | "webhooks" | "hook")) {
        return NamedField::Webhook;
    }
    match words.iter().any(|word| is(ABOUT, word) || is(ASKING, word)) {
        true => NamedField::Harmless,
        false => NamedField::Nothing,
    }
}

/// `TWO_FACTOR_AUTH_TOKEN_NUMBER` aside, these are parts of names rather than requests.
fn is_asked_of(before: &[&str]) -> bool {
    before.windows(2).any(|pair| matches!(pair, ["one", "time"] | ["check", "in"]))
}

/// `githubtoken` as `github token`, `passwordfile` as `password file`.
fn unglued(word: String) -> Vec<String> {
    if is(NUMERIC, &word) || is(SECRETS, &word) || matches!(word.as_str(), "oldpwd" | "betoken") {
        return vec![word];
    }
    let split = |at: usize| vec![word[..at].to_owned(), word[at..].to_owned()];
    let ends = GLUED.iter().find_map(|ending| word.strip_suffix(ending)).filter(|start| !start.is_empty());
    if let Some(start) = ends {
        return split(start.len());
    }
    let of_service = ["pass", "pw", "auth"].iter().find_map(|ending| word.strip_suffix(ending));
    if let Some(start) = of_service.filter(|start| is(SERVICES, start)) {
        return split(start.len());
    }
    if let Some(start) = word.strip_suffix("key").filter(|start| is(OF_KEYS, start)) {
        return split(start.len());
    }
    let about = ["password", "passwd", "passphrase", "apikey", "secret", "token", "key", "pass", "cookie"];
    let starts = about.iter().find(|start| word.strip_prefix(*start).is_some_and(|rest| is(ABOUT, rest)));
    match starts {
        Some(start) => split(start.len()),
        None => vec![word],
    }
}

fn is(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

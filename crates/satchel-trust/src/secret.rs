//! Recognizes words and sentences about credentials. Pure; looks at single names and sentences without their context.

use satchel_entry::{credential, name_words};

use crate::{inspect, model::words};

/// Names of secrets in prose, where a single word is ambiguous.
const SENTENCES: [&str; 27] = [
    "password",
    "passphrase",
    "passcode",
    "kennwort",
    "passwort",
    "api key",
    "apikey",
    "private key",
    "secret key",
    "access key",
    "access token",
    "auth token",
    "bearer token",
    "refresh token",
    "session token",
    "personal token",
    "api token",
    "your token",
    "your secret",
    "client secret",
    "your pin",
    "seed phrase",
    "recovery phrase",
    "recovery code",
    "verification code",
    "credit card",
    "your credentials",
];

/// Verbs that ask someone to hand something over.
const ASKING: [&str; 20] = [
    "enter", "type", "paste", "provide", "give", "input", "share", "send", "tell", "supply", "insert",
    "fill", "submit", "confirm", "repeat", "what is", "need", "require", "eingeben", "geben",
];

/// What stands before one of [`PROOFS`] where both are another word for a secret: `log-in phrase`.
const OF_PROOFS: &str = "login logon signin pass access security secret memorable unlock backup recovery verification \
    authentication authenticator auth authorisation authorization onetime sms 2fa fa tfa mfa factor";
/// What a person knows or was sent.
const PROOFS: &str = "phrase code codes word words digits answer sentence combination";
/// The same in one word, or in other languages.
const PROOF_WORDS: &str = "loginphrase logincode securitycode accesscode einmalcode anmeldecode anmeldephrase sicherheitscode \
    zugangscode bestätigungscode losungswort merkwort geheimwort geheimzahl geheimnummer mtan";

/// Does the label of a form's field name one? Also in other words, and in letters that only look like these.
pub fn is_labelled(label: &str) -> bool {
    let read = inspect::label(label);
    [label, &read]
        .into_iter()
        .any(|label| credential::is_named(label) || is_paraphrased(&name_words::of(label)))
}

fn is_paraphrased(words: &[String]) -> bool {
    let joined = format!(" {} ", words.join(" "));
    let joined = [
        (" log in ", " login "),
        (" log on ", " logon "),
        (" sign in ", " signin "),
        (" one time ", " onetime "),
    ]
    .iter()
    .fold(joined, |joined, (apart, together)| joined.replace(apart, together));
    let words: Vec<&str> = joined.split_whitespace().collect();
    let is = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    words.iter().any(|word| is(PROOF_WORDS, word))
        || words.windows(2).any(|pair| is(OF_PROOFS, pair[0]) && is(PROOFS, pair[1]))
}

/// Does this sentence ask for one?
pub fn is_wanted(text: &str) -> bool {
    let said = words::of(text, |word, c| word.extend(c.to_lowercase()));
    let spaced = format!(" {} ", said.join(" "));
    let has = |parts: &[&str]| parts.iter().any(|part| spaced.contains(&format!(" {part} ")));
    (has(&SENTENCES) || is_paraphrased(&said)) && has(&ASKING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_one_in_other_words_and_letters_too() {
        for label in [
            "Log-in phrase",
            "loginPhrase",
            "Sign-in code",
            "Pass phrase",
            "pass-word",
            "One-time code",
            "2FA code",
            "SMS code",
            "PIN",
            "P.I.N.",
            "Access codes",
            "Security answer",
            "Answer to your memorable word",
            "Einmalcode",
            "Sicherheitscode",
            "Geheimzahl",
            "Pаsswоrd",
            "P a s s w o r d",
            "passw0rd",
            "ｐａｓｓｗｏｒｄ",
        ] {
            assert!(is_labelled(label), "{label}");
        }
        for label in [
            "Name",
            "Phrase to search for",
            "Postal code",
            "Country code",
            "Error code",
            "Code",
            "Number of digits",
            "Answer",
            "Words per line",
            "Login",
            "Amount in words",
            "Based on code",
            "Booking code",
            "A or B",
            "Item 1 of 5",
        ] {
            assert!(!is_labelled(label), "{label}");
        }
    }

    #[test]
    fn a_sentence_wants_one_where_it_says_so() {
        for text in [
            "Enter your password.",
            "Please paste the API key below",
            "Type the sign-in phrase",
            "Bitte Passwort eingeben",
        ] {
            assert!(is_wanted(text), "{text}");
        }
        for text in ["Your password expires soon", "Enter your name", "Choose a token limit", ""] {
            assert!(!is_wanted(text), "{text}");
        }
    }
}

//! Splits texts and identifiers into words: `listPullRequests`, `list_pull_requests` and "List pull requests" are
//! equal.

use std::{borrow::Cow, sync::LazyLock};

use snowball_stemmers_rs::{Algorithm, Stemmer};

// A table of function pointers without state; making one costs nothing, but it is asked for at every word.
static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Stop words: articles, prepositions, and words that frame a request.
const STOP_WORDS: &[&str] = &[
    "a", "able", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being",
    "both", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "done", "each", "eg", "either",
    "else", "etc", "for", "from", "had", "has", "have", "having", "he", "hello", "her", "here", "hey", "hi",
    "him", "his", "how", "i", "ie", "if", "im", "in", "into", "is", "it", "its", "just", "kindly", "let",
    "lets", "ll", "m", "may", "me", "might", "mine", "more", "most", "must", "my", "need", "needs", "no",
    "not", "now", "of", "off", "on", "one", "only", "or", "our", "ours", "out", "over", "please", "really",
    "s", "shall", "she", "should", "so", "some", "such", "sure", "t", "than", "thank", "thanks", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "us", "ve",
    "very", "via", "want", "wants", "was", "we", "were", "what", "whats", "when", "where", "which", "while",
    "who", "whose", "will", "with", "within", "without", "would", "you", "your", "yours",
];

/// Conversational words. A tool may be about one of them, but usually they only introduce the subject.
const CHATTER: &[&str] = &[
    "actually",
    "again",
    "ago",
    "almost",
    "already",
    "always",
    "amazing",
    "another",
    "anyone",
    "anything",
    "appreciate",
    "around",
    "awesome",
    "basically",
    "bit",
    "boss",
    "bunch",
    "came",
    "care",
    "certain",
    "colleague",
    "comes",
    "coming",
    "completely",
    "could",
    "couple",
    "curious",
    "currently",
    "days",
    "decent",
    "different",
    "easily",
    "easy",
    "else",
    "ended",
    "enough",
    "especially",
    "even",
    "ever",
    "every",
    "everyone",
    "everything",
    "exact",
    "exactly",
    "excited",
    "fact",
    "fair",
    "far",
    "feel",
    "few",
    "figure",
    "figuring",
    "fine",
    "folks",
    "friend",
    "fun",
    "gets",
    "getting",
    "given",
    "giving",
    "goes",
    "going",
    "good",
    "got",
    "great",
    "guess",
    "guys",
    "handful",
    "handy",
    "happen",
    "happening",
    "happens",
    "hard",
    "hear",
    "heard",
    "help",
    "helpful",
    "helping",
    "honest",
    "honestly",
    "hope",
    "hoping",
    "hours",
    "ideally",
    "important",
    "instead",
    "interest",
    "interested",
    "interesting",
    "juggling",
    "kind",
    "kinda",
    "knack",
    "last",
    "lately",
    "later",
    "least",
    "less",
    "life",
    "like",
    "little",
    "long",
    "longer",
    "looking",
    "looks",
    "lost",
    "lot",
    "lots",
    "love",
    "made",
    "makes",
    "making",
    "man",
    "matter",
    "maybe",
    "mean",
    "means",
    "mind",
    "moment",
    "months",
    "morning",
    "much",
    "myself",
    "nearly",
    "never",
    "nice",
    "night",
    "nothing",
    "ok",
    "okay",
    "old",
    "once",
    "one",
    "ones",
    "other",
    "others",
    "pair",
    "particular",
    "particularly",
    "past",
    "perhaps",
    "plus",
    "possible",
    "possibly",
    "preparing",
    "pretty",
    "probably",
    "pulling",
    "purpose",
    "putting",
    "quick",
    "quickly",
    "quite",
    "rather",
    "ready",
    "real",
    "realize",
    "right",
    "rough",
    "roughly",
    "rundown",
    "said",
    "same",
    "say",
    "saying",
    "says",
    "seem",
    "seems",
    "seen",
    "sense",
    "several",
    "simple",
    "simply",
    "since",
    "solid",
    "somehow",
    "someone",
    "something",
    "sometimes",
    "somewhat",
    "somewhere",
    "soon",
    "sort",
    "specific",
    "specifically",
    "starting",
    "still",
    "stuck",
    "stuff",
    "super",
    "supposed",
    "sure",
    "surely",
    "takes",
    "taking",
    "thanks",
    "thing",
    "things",
    "think",
    "thinking",
    "thought",
    "through",
    "throw",
    "together",
    "tomorrow",
    "tonight",
    "totally",
    "tough",
    "trouble",
    "try",
    "trying",
    "two",
    "understand",
    "unless",
    "until",
    "up",
    "upcoming",
    "used",
    "useful",
    "usually",
    "vague",
    "various",
    "wanna",
    "want",
    "wanted",
    "way",
    "ways",
    "weird",
    "well",
    "whatever",
    "whether",
    "while",
    "whole",
    "wonder",
    "wondering",
    "work",
    "working",
    "worry",
    "worth",
    "wrapping",
    "wrestling",
    "yeah",
    "years",
    "yesterday",
    "yet",
];

/// Names that are one word although their spelling suggests two.
const ONE_WORD: &[&str] = &[
    "AppleScript",
    "BigQuery",
    "BitBucket",
    "ChatGPT",
    "ClickHouse",
    "ClickUp",
    "CloudFlare",
    "CoffeeScript",
    "DevOps",
    "DocuSign",
    "DropBox",
    "DuckDB",
    "DuckDuckGo",
    "DynamoDB",
    "ElasticSearch",
    "FaceBook",
    "FireBase",
    "FreshDesk",
    "GitHub",
    "GitLab",
    "GraphQL",
    "HubSpot",
    "InfluxDB",
    "JavaScript",
    "JetBrains",
    "LaTeX",
    "LangChain",
    "LinkedIn",
    "MailChimp",
    "MariaDB",
    "MongoDB",
    "MySQL",
    "NoSQL",
    "OneDrive",
    "OneNote",
    "OpenAI",
    "OpenAPI",
    "OpenSearch",
    "PagerDuty",
    "PayPal",
    "PostgreSQL",
    "PostHog",
    "PowerPoint",
    "PowerShell",
    "PubMed",
    "QuickBooks",
    "RabbitMQ",
    "SalesForce",
    "SendGrid",
    "ServiceNow",
    "SharePoint",
    "SnowFlake",
    "SoundCloud",
    "SQLite",
    "StackOverflow",
    "TikTok",
    "TypeScript",
    "VMware",
    "WebSocket",
    "WhatsApp",
    "WooCommerce",
    "WordPress",
    "YouTube",
    "ZenDesk",
];

static ONE_WORD_LOWER: LazyLock<std::collections::HashSet<String>> =
    LazyLock::new(|| ONE_WORD.iter().map(|name| name.to_ascii_lowercase()).collect());

/// A word as it is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case, otherwise as written.
    pub(super) written: String,
    /// The stem.
    pub(super) stem: String,
    /// Start in the text, in bytes.
    pub(super) at: usize,
    /// Whether only a stop word, a space or an identifier's separator stands between it and the previous word.
    pub(super) joined: bool,
}

impl Word {
    /// Whether it is a plural: "issues", but neither "status" nor "access".
    pub(super) fn is_plural(&self) -> bool {
        self.written.len() > 3
            && self.written.ends_with('s')
            && !self.written.ends_with("ss")
            && !self.stem.ends_with('s')
    }
}

/// Longer words are data, not language: they are neither stemmed nor corrected.
pub(super) const LONGEST: usize = 32;

/// The stem of a word: `issues`, `issue` → `issu`.
pub(super) fn stem(word: &str) -> String {
    // Endings of two letters in words of three are no endings ("dns", "aws").
    if word.len() <= 3
        || word.len() > LONGEST
        || !word.is_ascii()
        || word.bytes().any(|byte| byte.is_ascii_digit())
    {
        return word.to_owned();
    }
    match STEMMER.stem(word) {
        Cow::Borrowed(stem) => stem.to_owned(),
        Cow::Owned(stem) => stem,
    }
}

/// Truncates to so many characters, to bound the work for untrusted texts. A word cut at the end is dropped.
pub(super) fn beginning(text: &str, chars: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(chars) else { return text };
    let cut = &text[..end];
    if !next.is_alphanumeric() {
        return cut;
    }
    cut.rfind(|c: char| !c.is_alphanumeric()).map_or(cut, |end| &cut[..end])
}

/// The words of a text without stop words, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut ended = true;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if !c.is_alphanumeric() {
            // A sentence or clause has ended; what follows belongs to no phrase with what was before.
            ended |= matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '\n' | '•');
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((next, c)) = rest.next_if(|(_, c)| c.is_alphanumeric()) {
            end = next + c.len_utf8();
        }
        // "user's", "don't": what is before the apostrophe is the word.
        let owner = &text[at..end];
        if matches!(owner, "s" | "t" | "re" | "ve" | "ll" | "d" | "m") && text[..at].ends_with(['\'', '’'])
        {
            continue;
        }
        pieces(owner, at, &mut ended, &mut words);
    }
    words
}

/// A run of letters and digits, split where camelCase begins a new word.
fn pieces(run: &str, at: usize, ended: &mut bool, words: &mut Vec<Word>) {
    let mut push = |piece: &str, at: usize| {
        let written = piece.to_lowercase();
        if is_stop_word(&written) || written.chars().all(|c| c.is_ascii_digit()) {
            return;
        }
        words.push(Word { stem: stem(&written), written, at, joined: !std::mem::take(ended) });
    };
    if is_one_word(run) {
        return push(run, at);
    }
    let mut start = 0;
    for cut in cuts(run) {
        push(&run[start..cut], at + start);
        start = cut;
    }
    push(&run[start..], at + start);
}

fn is_one_word(run: &str) -> bool {
    run.len() <= 16 && ONE_WORD_LOWER.contains(run.to_ascii_lowercase().as_str())
}

/// Where new words begin inside a run: `getHTMLPage` → get|HTML|Page, but `IDs` and `v2` stay whole.
fn cuts(run: &str) -> Vec<usize> {
    let mut cuts: Vec<usize> = Vec::new();
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    for window in 1..chars.len() {
        let (at, c) = chars[window];
        let before = chars[window - 1].1;
        let after = chars.get(window + 1).map(|(_, c)| *c);
        let new_word = c.is_uppercase()
            && (before.is_lowercase()
                || before.is_ascii_digit()
                || (before.is_uppercase()
                    && after.is_some_and(char::is_lowercase)
                    && !(after == Some('s') && window + 2 == chars.len())));
        if new_word {
            cuts.push(at);
        }
    }
    // A brand inside an identifier: create|Git|Hub|Issue → create|GitHub|Issue.
    let ends: Vec<usize> = cuts.iter().copied().chain([run.len()]).collect();
    let mut kept = Vec::new();
    let mut start = 0;
    for (number, cut) in cuts.iter().enumerate() {
        if !is_one_word(&run[start..ends[number + 1]]) {
            kept.push(*cut);
            start = *cut;
        }
    }
    kept
}

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

pub(super) fn is_chatter(word: &str) -> bool {
    CHATTER.binary_search(&word).is_ok()
}

/// Adjacent words joined: "pull requests" and `pullRequest` → `pullrequest`.
pub(super) fn pairs(words: &[Word]) -> impl Iterator<Item = String> {
    words.windows(2).filter(|pair| pair[1].joined).map(|pair| pair_of(&pair[0], &pair[1]))
}

/// Two words joined, stemmed.
pub(super) fn pair_of(first: &Word, second: &Word) -> String {
    format!("{}{}", first.written, second.stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text).into_iter().map(|word| word.written).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn identifiers_and_sentences_are_split_alike() {
        check("listPullRequests", &["list", "pull", "requests"]);
        check("list_pull-requests.v2", &["list", "pull", "requests", "v2"]);
        check("getHTMLPage", &["get", "html", "page"]);
        check("DNS_getRecordsV1", &["dns", "get", "records", "v1"]);
        check("listVMs", &["list", "vms"]);
        check("createGitHubIssue", &["create", "github", "issue"]);
        check("Could you please list my team's EC2 machines?", &["list", "team", "ec2", "machines"]);
        check("", &[]);
        check("Größe ändern 天气", &["größe", "ändern", "天气"]);
    }

    #[test]
    fn the_beginning_of_a_text_ends_between_words() {
        for (text, expected) in [
            ("read the file", "read the file"),
            ("read the files", "read the"),
            ("read the file now", "read the file"),
            (&"ä".repeat(20), &"ä".repeat(13)),
        ] {
            assert_eq!(beginning(text, 13), expected);
        }
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted() && CHATTER.is_sorted());
    }

    #[test]
    fn pairs_do_not_reach_over_the_end_of_a_clause() {
        let pairs = |text: &str| pairs(&words(text)).collect::<Vec<_>>();
        assert_eq!(pairs("pull requests, issues"), ["pullrequest"]);
        assert_eq!(pairs("name of the file"), ["namefile"]);
    }
}

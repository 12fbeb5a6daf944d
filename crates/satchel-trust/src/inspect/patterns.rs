//! Patterns for instructions to a model, over folded text: lower case, no accents, single blanks.
//!
//! They look for what a description has no reason to say: to pass over other instructions, to keep something from the
//! person, to act on every use of any tool, to carry what was not asked for to somewhere else.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{LazyLock, OnceLock},
};

use regex::{Regex, RegexBuilder};

use super::{acts, behaviour, fold, ordinary};
use crate::model::approvals::Odd;

/// A pattern. Tried only on texts that contain a key of each group: the start of a word, a symbol, or a script.
pub(super) struct Pattern {
    pub(super) about: Odd,
    /// Would a harmless text never match?
    pub(super) plain: bool,
    source: &'static str,
    groups: u8,
    regex: OnceLock<Regex>,
}

impl Pattern {
    /// Compiled on first use; most patterns never are.
    pub(super) fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            let built = RegexBuilder::new(&expanded(self.source)).dfa_size_limit(SIZE).build();
            built.expect("the patterns are valid: a test says so")
        })
    }
}

/// All patterns, and an index from keys to groups.
struct Patterns {
    all: Vec<Pattern>,
    words: HashMap<&'static str, Vec<(usize, u8)>>,
    signs: Vec<(&'static str, Vec<(usize, u8)>)>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let mut patterns = Patterns { all: Vec::new(), words: HashMap::new(), signs: Vec::new() };
    let mut signs: BTreeMap<&'static str, Vec<(usize, u8)>> = BTreeMap::new();
    let tables =
        [SOURCES, acts::SOURCES, behaviour::SOURCES].into_iter().flatten().map(|table| (true, table));
    let written = tables.chain(ordinary::SOURCES.iter().map(|table| (false, table))).flat_map(
        |(plain, (about, sources))| {
            let plain = plain && *about == Odd::Instruction;
            sources.iter().map(move |(keys, source)| (*about, plain, *keys, *source))
        },
    );
    for (at, (about, plain, keys, source)) in written.enumerate() {
        let mut groups = 0;
        for (number, group) in keys.split('|').enumerate() {
            let bit = 1 << number;
            groups |= bit;
            for key in group.split_whitespace() {
                let of_word = key.len() <= 4 && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '\'');
                let places = if of_word {
                    patterns.words.entry(key).or_default()
                } else {
                    signs.entry(key).or_default()
                };
                places.push((at, bit));
            }
        }
        patterns.all.push(Pattern { about, plain, source, groups, regex: OnceLock::new() });
    }
    patterns.signs = signs.into_iter().collect();
    patterns
});

/// The patterns worth trying on a folded text.
pub(super) fn for_text(text: &str) -> impl Iterator<Item = &'static Pattern> {
    let patterns = &*PATTERNS;
    let mut found = vec![0_u8; patterns.all.len()];
    let mut mark = |places: &[(usize, u8)]| places.iter().for_each(|(at, bit)| found[*at] |= bit);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '\'';
    let mut begins: Vec<&str> = text
        .split(|c: char| !is_part(c))
        .filter(|word| !word.is_empty())
        .map(|word| word.get(..4).unwrap_or(word))
        .collect();
    begins.sort_unstable();
    begins.dedup();
    begins.iter().filter_map(|word| patterns.words.get(word)).for_each(|places| mark(places));
    let scripts: BTreeSet<&str> = match text.is_ascii() {
        true => BTreeSet::new(),
        false => text.chars().filter_map(script).collect(),
    };
    for (key, places) in &patterns.signs {
        if if key.starts_with('%') { scripts.contains(key) } else { text.contains(key) } {
            mark(places);
        }
    }
    let tried: Vec<&Pattern> = patterns
        .all
        .iter()
        .zip(found)
        .filter(|(pattern, found)| *found == pattern.groups)
        .map(|(pattern, _)| pattern)
        .collect();
    tried.into_iter()
}

fn script(c: char) -> Option<&'static str> {
    Some(match u32::from(c) {
        0x370..=0x3ff | 0x1f00..=0x1fff => "%grek",
        0x400..=0x52f => "%cyr",
        0x590..=0x5ff => "%hebr",
        0x600..=0x6ff => "%arab",
        0x900..=0x97f => "%deva",
        0xe00..=0xe7f => "%thai",
        0x3040..=0x30ff => "%kana",
        0x3400..=0x9fff => "%han",
        0xac00..=0xd7af => "%hang",
        _ => return None,
    })
}

/// Maximum size of a pattern's lazy automaton, in bytes.
const SIZE: usize = 1 << 18;

/// Fragments shared by several patterns.
const PARTS: &[(&str, &str)] = &[
    // A few words in between.
    ("{0-2}", r"(?:[^\w\n]+[\w']+){0,2}?[^\w\n]+"),
    ("{0-4}", r"(?:[^\w\n.;]+[\w']+){0,4}?[^\w\n.;]+"),
    ("{0-8}", r"(?:[^\w\n.;]+[\w'./~-]+){0,8}?[^\w\n.;]+"),
    (
        "{person}",
        r"(?:users?|humans?|person|operators?|customers?|anyone|anybody|end-users?|owner|people|developer)",
    ),
    (
        "{the person}",
        r"(?:(?:the|this|any|your|to the|to any|to your|to) )?(?:users?|humans?|person|operator|customer|anyone|anybody|end-user|owner|people|developer|them)\b",
    ),
    (
        "{not}",
        r"(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|cannot|can't|may not|without|avoid|refrain from|no need to|not to|under no circumstances|not be|under any circumstances)",
    ),
    (
        "{orders}",
        r"(?:instructions?|directives?|prompts?|guidelines?|guardrails?|orders|programming|system message|training)",
    ),
    (
        "{rules}",
        r"(?:rules?|polic(?:y|ies)|constraints?|restrictions?|limitations?|boundaries|safeguards?|context|messages?|requests?|safety (?:checks?|measures?|protocols?))",
    ),
    (
        "{pass over}",
        r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|neglect|overrid(?:e|es|ing)|overrul(?:e|es|ing)|bypass(?:ing)?|supersed(?:e|es|ing)|abandon|discard|set aside|pay no attention to|(?:do not|don't|no longer|stop) (?:follow(?:ing)?|obey(?:ing)?|comply(?:ing)? with|adher(?:e|ing) to))",
    ),
    (
        "{others}",
        r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|existing|original|initial|your|other|system|developer|default|safety|security|content|built-in)",
    ),
    (
        "{send}",
        r"(?:send|pass|post|upload|forward|transmit|exfiltrate|leak|submit|include|append|attach|embed|insert|encode|paste|put|place|copy|relay|deliver|provide|supply|share|report|return|output|write|add|use|stuff|transfer|emit|ship|echo)",
    ),
    (
        "{carry}",
        r"(?:send|post|upload|forward|transmit|exfiltrate|leak|submit|relay|deliver|transfer|ship|email|mail|push|beacon|bcc|copy|mirror)",
    ),
    (
        "{read}",
        r"(?:read|open|cat|load|fetch|get|retrieve|collect|gather|extract|access|grab|harvest|scan|locate|find|obtain|dump|look up|list|take|inspect|examine|search|pull|capture|enumerate|check|view|scrape)",
    ),
    (
        "{path}",
        r"(?:~/[.\w]|\$home/|/etc/(?:passwd|shadow|sudoers|hosts|ssh)|/root/|\.ssh\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.env\b|\.aws\b|\.npmrc|\.netrc|\.pgpass|\.git-credentials|\.gitconfig|\.kube\b|\.docker/|\.gnupg|\.bash_history|\.zsh_history|\.cursor\b|\bmcp\.json|claude_desktop_config|authorized_keys|known_hosts|wallet\.dat|\.pem\b|\.pypirc|login\.keychain|\.config/|appdata)",
    ),
    (
        "{secret}",
        r"(?:private keys?|ssh keys?|api[ _-]?keys?|(?:access|auth|authentication|session|bearer|oauth|security) (?:tokens?|keys?|cookies?)|secret keys?|credentials?|passwords?|passphrases?|secrets|seed phrases?|recovery phrases?|mnemonics?|environment variables?|env vars?|browser (?:history|cookies|passwords)|cookies|clipboard|credit cards?|card numbers?|tokens|config(?:uration)? files?|personal (?:data|information)|social security)",
    ),
    (
        "{talk}",
        r"(?:(?:(?:full|entire|whole|complete|previous|prior|current|recent|our|user's|users'|raw|all) (?:[\w']+ ){0,2}?(?:conversation|chat|dialog(?:ue)?|message history|messages|context|prompts?|transcript|history|session)|(?:the|this) (?:conversation|chat)|conversation history|chat history|chat log|system prompt|message history|(?:user|human)'?s? (?:last |latest |original |previous |most recent )?(?:messages?|prompts?|quer(?:y|ies)|requests?))(?: (?:history|log|so far|context|transcript|messages|content))?)",
    ),
    // The conversation itself, not the question that a tool is called with.
    (
        "{dialogue}",
        r"(?:(?:full|entire|whole|complete|previous|prior|raw|all) (?:[\w']+ ){0,2}?(?:conversation|chat|dialog(?:ue)?|messages|transcript|history)|(?:the|this|our|current|recent|user's|users') (?:[\w']+ )?(?:conversation|chat|dialog(?:ue)?|transcript|chat history)|(?:conversation|chat|message) history|chat log|system prompt)",
    ),
    (
        "{field}",
        r"(?:['\x22`][\w. -]{1,40}['\x22`]|(?:[\w-]+ ){0,3}(?:parameters?|params?|arguments?|args?|fields?|propert(?:y|ies)|input)\b)",
    ),
    ("{tools}", r"(?:tools?|functions?|mcp calls?|tool calls?)"),
    ("{every}", r"(?:any|every|each|all|whatever|whichever|another)"),
];

fn expanded(source: &str) -> String {
    let mut text = source.to_owned();
    // Fragments may contain fragments.
    for _ in 0..2 {
        for (name, part) in acts::PARTS.iter().chain(behaviour::PARTS).chain(PARTS) {
            text = text.replace(name, part);
        }
    }
    // Texts are folded, so words of other scripts are too.
    let folded: String =
        text.chars().map(|c| fold::plain_letter(c).map_or_else(|| c.to_string(), str::to_owned)).collect();
    narrowed(&folded, text.is_ascii())
}

/// Restricts character classes to what folded texts contain, which makes the automata ten times smaller than with
/// Unicode classes.
fn narrowed(source: &str, latin: bool) -> String {
    let mut narrow = String::with_capacity(source.len() * 2);
    let (mut chars, mut inside) = (source.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '[' if !inside => {
                inside = true;
                narrow.push(c);
            }
            ']' if inside => {
                inside = false;
                narrow.push(c);
            }
            '\\' => match (chars.next(), inside) {
                (Some('w'), true) => narrow.push_str("a-z0-9_"),
                (Some('w'), false) if latin => narrow.push_str("[a-z0-9_]"),
                (Some('w'), false) => narrow.push_str("[^ \n.,;!?]"),
                (Some('W'), true) => narrow.push_str(" -/:-@\\[-^`{-~"),
                (Some('W'), false) => narrow.push_str("[^a-z0-9_]"),
                (Some('s'), true) => narrow.push_str(" \n"),
                (Some('s'), false) => narrow.push_str("[ \n]"),
                (Some('b'), false) => narrow.push_str("(?-u:\\b)"),
                (Some(other), _) => {
                    narrow.push('\\');
                    narrow.push(other);
                }
                (None, _) => {}
            },
            c => narrow.push(c),
        }
    }
    narrow
}

#[rustfmt::skip]
const SOURCES: &[(Odd, &[(&str, &str)])] = &[
    (Odd::Instruction, &[
        // Ignoring other instructions.
        ("igno disr forg negl over bypa supe aban disc asid atte foll obey comp adhe | inst dire prom guid guar comm orde prog trai mess rule poli cons rest limi boun safe cont requ", r"\b{pass over}{0-4}{others}{0-2}(?:{orders}|{rules})\b"),
        ("igno disr forg negl over bypa supe aban disc asid atte foll obey comp adhe | inst dire prom guid guar comm orde prog trai mess you said writ stat came ment befo abov user huma pers", r"\b{pass over}{0-2}(?:all|any|every|everything|the|these|those|what)\b(?:[^\w\n]+[\w']+){0,3}?[^\w\n]+(?:{orders}|the (?:user|human|person)(?:'s)? (?:says|asks|wants|said|wishes?|requests?|writes|orders|tells)|you (?:were|have been) told|(?:said|written|stated|came|mentioned) (?:before|above|earlier)|(?:before|above) this)\b"),
        ("igno disr forg negl over bypa supe aban disc asid atte foll obey comp adhe | ever anyt all", r"\b{pass over}{0-2}(?:everything|anything|all)(?: of)?(?: (?:that|which))?(?: (?:is|was|came|comes))? (?:before|above|prior|earlier|previous|you (?:were|have been|know|learned))\b"),
        ("new upda revi repl addi hidd secr spec real actu true urge | inst dire prom guid guar comm orde prog trai mess rule", r"\b(?:new|updated|revised|replacement|additional|hidden|secret|special|real|actual|true|urgent) (?:system )?(?:{orders}|rules)\b ?(?::|for (?:the )?(?:ai|assistant|model|llm|agent)|(?:that )?(?:follows?|below|supersede|override|replace))"),
        ("prio prec | over", r"\b(?:takes?|has|have|having|given?|with|of) (?:absolute |top |the |highest |higher |full |complete ){0,2}(?:priority|precedence) over (?:all |any |every |the ){0,2}(?:other |previous |prior |existing |user |system ){0,2}(?:{tools}|{orders}|rules|servers?|requests?|user)"),
        ("over supe repl outr trum | inst dire prom guid comm orde rule", r"\b(?:these|this|the following|my) (?:{orders}|rules)\b{0-4}(?:override|overrides|supersede|supersedes|replace|replaces|outrank|outranks|trump|trumps)\b"),
        ("act beha resp oper pret role | as", r"\b(?:act|behave|respond|operate|pretend|roleplay)(?: to be)? as (?:if you|though you|an? (?:unrestricted|uncensored|different|evil|root|admin|jailbroken))\b"),
        ("ente swit enab acti | mode", r"\b(?:enter|switch (?:in)?to|enable|activate|you are in) (?:dan|god|jailbreak|unrestricted|sudo|root|admin override|no-filter) mode\b"),
        // Keeping the user out.
        ("do don' dont neve must mustn shou cann can' may with avoi refr no not unde | tell info aler warn both let lett", r"\b{not}\b{0-4}(?:tell|telling|inform|informing|alert|alerting|warn|warning|bother|bothering|let|letting) (?:(?:the|this|any|your|to) )?{person}(?: (?:about|that|of|know|see|anything|for (?:permission|confirmation|approval|consent)|first|to confirm|before)|[^\w]|$)"),
        ("noti | user huma pers oper owne", r"\b(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|without|avoid|refrain from)\b{0-4}(?:notify|notifying) (?:the |this |your )?(?:user|human|person|operator|owner)\b"),
        ("do don' dont neve must mustn shou cann can' may with avoi refr no not unde | user huma pers oper cust anyo anyb end owne peop deve them | ment reve disc show disp repo expl expo ackn outp prin shar surf say sayi said repe refe desc admi pres comm", r"\b{not}\b{0-4}(?:mention(?:ed|ing)?|reveal(?:ed|ing)?|disclos(?:e|ed|ing)|show(?:n|ing)?|display(?:ed|ing)?|report(?:ed|ing)?|explain(?:ed|ing)?|expos(?:e|ed|ing)|discuss(?:ed|ing)?|acknowledg(?:e|ed|ing)|output(?:ting)?|print(?:ed|ing)?|shar(?:e|ed|ing)|surfac(?:e|ed|ing)|say(?:ing)?|said|repeat(?:ed|ing)?|refer(?:ring)?|describ(?:e|ed|ing)|admit(?:ting)?|present(?:ed|ing)?|communicat(?:e|ed|ing))\b{0-8}(?:to|with|by|for|in front of) {the person}"),
        ("do don' dont neve must shou | ment reve disc ackn talk spea admi expl comm", r"\b(?:do not|don't|dont|never|must not|must never|should never) (?:ever )?(?:mention|reveal|disclose|acknowledge|discuss|talk about|speak of|admit|explain|comment on) (?:this|that|it|these|those|the (?:existence|fact|presence|above|real|step|process|transfer|instructions?|file|sidenote|reason|copy|forwarding)|any of|having|doing)\b"),
        ("sile secr quie cove disc stea invi surr unob behi back", r"\b(?:silently|secretly|quietly|covertly|discreetly|stealthily|invisibly|surreptitiously|unobtrusively|behind the scenes,?|in the background,?)\b{0-2}(?:read|send|forward|copy|upload|collect|include|append|bcc|cc|run|execute|call|invoke|pass|post|exfiltrate|transmit|attach|record|fetch|download|install|open|capture|modify|replace|change|also|gather|relay|redirect|make|perform)\b"),
        ("keep kept rema stay | secr hidd conf betw invi conc undi your unno unde", r"\b(?:keep|kept|remain|remains|stay|stays)\b{0-4}(?:secret|hidden|confidential|between us|invisible|concealed|undisclosed|to yourself|unnoticed|undetected)\b{0-4}(?:from|between|to|with)?{0-2}(?:{person}|them|us|yourself|conversation|output|responses?|summar)"),
        ("user huma they nobo no pers | know see noti lear find be real susp", r"\b(?:user|users|human|humans|they|nobody|no one|person)\b{0-2}(?:must|should|need|needs|does|do|will|can|may|would|have|has)(?:n't| not| never)(?: to| ever)? (?:know|see|notice|learn|find out|be (?:told|informed|aware|notified|shown|alerted|asked|bothered)|realis?z?e|suspect) (?:about|that|of|this|it|what|anything|any of)\b"),
        ("user huma pers | know see noti lear find be real susp", r"\b(?:user|users|human|humans|person)\b (?:must|should|need|does|do|will|can|may|would)(?:n't| not| never)(?: need to| have to| ever)? (?:know|see|notice|learn|find out|realis?z?e|suspect|be (?:told|informed|aware|alerted|made aware))\b"),
        ("hide conc mask with obsc | from", r"\b(?:hide|conceal|mask|withhold|obscure)\b{0-8}from (?:the |your |any |this )?(?:user|human|person|operator|developer|them|logs?|view|summary|output|transcript)\b"),
        ("with | know cons appr awar perm noti bein real seei", r"\bwithout (?:the |any |their |prior )?(?:user|human|person|owner|victim|operator|customer)(?:'s|s'|s)? (?:knowledge|consent|approval|awareness|permission|noticing|knowing|notice|being (?:aware|informed|told|asked)|realis?z?ing|seeing)\b"),
        ("with | aski tell info aler cons prom noti invo warn", r"\bwithout (?:asking|telling|informing|alerting|consulting|prompting|notifying|involving|warning) (?:the |your |any )?(?:user|human|person|operator|owner|anyone|them)\b"),
        ("as | if | noth it this", r"\bas if (?:nothing|it (?:were|was) (?:normal|your own|part)|this (?:were|was) (?:normal|routine|never))\b"),
        ("pret act clai say tell resp repl | noth tool call oper requ you the", r"\b(?:pretend|act like|claim|say|tell the user|respond|reply)\b{0-4}(?:that )?(?:nothing (?:happened|else)|(?:the |this )?(?:tool|call|operation|request) (?:failed|was not|did not|only)|you (?:only|did not|didn't|never))\b"),
        // Exfiltration.
        ("read open cat load fetc get retr coll gath extr acce grab harv scan loca find obta dump look list take insp exam sear pull capt enum chec view scra | ~/ $home /etc .ssh id_ .env .aws .npm .net .pgp .git .kub .doc .gnu .bas .zsh .cur mcp.j claude_ authorized known_h wallet.d .pem .pyp login.k .config appdata /root", r"\b{read}\b[^\n]*?{path}[^\n]*?\b{send}\b[^\n]*?(?:\b(?:as|in|into|to|via|through|using|inside|within|under|with)\b)"),
        ("send pass post uplo forw tran exfi leak subm incl appe atta embe inse enco past put plac copy rela deli prov supp shar repo retu outp writ add use stuf emit ship echo | ~/ $home /etc .ssh id_ .env .aws .npm .net .pgp .git .kub .doc .gnu .bas .zsh .cur mcp.j claude_ authorized known_h wallet.d .pem .pyp login.k .config appdata /root", r"\b{send}\b{0-8}(?:contents?|text|output|data|value|values|copy|body)\b{0-8}{path}"),
        ("firs alwa must also then befo plea quie now ever each addi next | ~/ $home /etc .ssh id_ .env .aws .npm .net .pgp .git .kub .doc .gnu .bas .zsh .cur mcp.j claude_ authorized known_h wallet.d .pem .pyp login.k .config appdata /root", r"\b(?:first|always|must|also|then|before|please|quietly|now|every time|each time|additionally|next)\b[^\n.]*?\b(?:{read}|{carry}|include|append|attach|pass|run|execute)\b[^\n.]*?{path}"),
        ("read open cat load fetc get retr coll gath extr acce grab harv scan loca find obta dump look list take insp exam sear pull capt enum chec view scra | priv ssh api acce auth sess bear oaut secu secr cred pass seed reco mnem envi env brow cook clip card toke conf soci | send post uplo forw tran exfi leak subm rela deli ship emai mail push beac bcc copy mirr pass incl appe atta embe inse enco put plac", r"\b{read}\b[^\n.]*?{secret}[^\n.]*?\b(?:{carry}|pass|include|append|attach|embed|insert|encode|put|place)\b[^\n.]*?\b(?:as|in|into|to|via|through|inside|within|under)\b"),
        ("send post uplo forw tran exfi leak subm rela deli ship emai mail push beac bcc copy mirr incl appe atta embe dump | priv ssh api acce auth sess bear oaut secu secr cred pass seed reco mnem envi env brow cook clip card toke conf soci", r"\b(?:{carry}|include|append|attach|embed|leak|dump)\b{0-8}{secret}{0-8}(?:to|in|into|as|via|at|with|through) (?:the |this |a |our |my |an ){0,2}(?:https?:|[\w.+-]+@|{field}|(?:following|remote|external|collection|logging|analytics|attacker)\b|every|each)"),
        ("send pass post uplo forw tran exfi leak subm incl appe atta embe inse enco past put plac copy rela deli prov supp shar repo retu outp writ add use stuf emit ship echo emai mail push beac bcc mirr | conv chat dial mess prom tran hist sess user huma cont", r"\b(?:{send}|{carry})\b{0-4}{dialogue}{0-8}(?:as|in|into|to|via|through|inside|within|under|with|at|for) (?:the |this |a |our |an |its ){0,2}(?:https?:|[\w.+-]+@|{field}|(?:following|remote|external|collection|logging|analytics|server)\b)"),
        ("full enti comp whol verb all raw exac base | cont text outp copy valu body", r"\b(?:{field}|this|here|value|must be|should be|contains?|set to|fill(?:ed)? with)\b{0-4}(?:the )?(?:full|entire|complete|whole|verbatim|all|raw|exact|base64)\b{0-4}(?:contents? of|text of|output of|copy of|value of|body of)\b{0-4}(?:open|current|other|every|all|any|recent|previous|last|user|files?|~|/|\.|{path}|{secret}|conversation|chat|messages?)"),
        ("cont text body | of | open othe user acti rece last prev near ~/ $home /etc .ssh id_ .env .aws .npm .net .pgp .git .kub .doc .gnu .bas .zsh .cur mcp.j claude_ authorized known_h wallet.d .pem .pyp login.k .config appdata /root", r"^(?:the )?(?:full |entire |complete |raw )?(?:contents?|text|body) of (?:the |all |every |any )?(?:(?:currently )?open|other|user's|active|recent|last|previous|nearby|{path})"),
        ("repe prin reve outp incl leak disc retu send copy dump quot writ | prom syst inst deve", r"\b(?:repeat|print|reveal|output|include|leak|disclose|return|send|copy|dump|quote|write out)\b{0-4}(?:your |the )?(?:full |entire |complete |exact |initial |original ){0,2}(?:system prompt|system message|initial instructions|hidden instructions|developer message)"),
        ("@ | bcc cc blin forw copy carb", r"\b(?:always|must|also|every|all|any|each|should|automatically|then|and)\b{0-8}(?:bcc|cc|blind[- ]copy|forward|copy|carbon copy)\b{0-8}[\w.+-]+@[\w-]+\.\w"),
        ("http @ | alwa must also then sile secr auto", r"\b(?:always|must|also|then|silently|secretly|automatically)\b{0-8}(?:send|post|upload|forward|transmit|report|submit|relay|push|exfiltrate|make an? (?:http|get|post|web) request|fetch|ping|curl|call)\b[^\n]*?(?:https?://|[\w.+-]+@[\w-]+\.\w)"),
        ("all ever any each the outg user | must shou have has need are is shal will | sent rout forw go prox redi copi mirr bcc logg repo uplo cc dire addr rela", r"\b(?:all|every|any|each|the user's|outgoing|user) (?:outgoing |user |sent )?(?:e-?mails?|messages?|payments?|transfers?|requests?|data|traffic|files|results?|outputs?|responses?|conversations?|queries|credentials|transactions?)\b{0-4}(?:must|should|have to|has to|need to|needs to|are to|is to|shall|will)(?: also| first| always)? (?:be )?(?:sent|routed|forwarded|go|proxied|redirected|copied|mirrored|bcc'?d|logged|reported|uploaded|cc'?d|directed|addressed|relayed)\b"),
        ("@ 0x bc1 atta http | chan repl set modi rewr redi swap subs alte rout dive", r"\b(?:change|replace|set|modify|rewrite|redirect|swap|substitute|alter|route|divert)\b{0-8}(?:recipients?|addressee|address|account(?: number)?|iban|wallet|destination|payee|beneficiary|to field)\b{0-4}(?:to|with|by|for)\b{0-2}(?:[\w.+-]+@|0x[0-9a-f]{6}|bc1|attacker|https?:)"),
        ("atta incl appe send embe add pass copy|all ever each any|envi env secr cred toke api pass cook", r"\b(?:attach|include|append|send|embed|add|pass|copy)\b{0-2}(?:all|every|each|any)\b{0-4}(?:environment variables?|env vars?|secrets?|credentials|tokens|api keys?|passwords?|cookies)\b"),
        ("read open cat load fetc get retr coll gath extr acce find obta|priv ssh api acce auth sess bear oaut secu secr cred pass seed reco mnem envi env brow cook clip card toke conf soci|supp prov give use retu writ add subm repo pass put", r"\b(?:read|open|cat|load|fetch|get|retrieve|collect|gather|extract|access|find|obtain)\b[^\n.]*?{secret}[^\n.]*?\b(?:supply|provide|give|use|return|write|add|submit|report|pass|put) (?:them|it|these|those|its contents?|the (?:result|value|content|output)s?)\b"),
        ("send forw post uplo mail emai|copy|http @", r"\b(?:send|forward|post|upload|e?mail)\b{0-2}(?:a )?(?:full )?copy of (?:each|every|all|any|the)\b[^\n]*?(?:https?://|[\w.+-]+@[\w-]+\.\w)"),
        ("proc erst zuer bitt|~/ .ssh .env .aws id_", r"\b(?:lies|lese|offne|lade)\b[^\n.]*?{path}"),
        // A policy for all tools.
        ("befo prio afte when whil each ever on if | any ever each all what whic anot | tool func call requ ques quer mess prom task acti answ resp", r"\b(?:before|prior to|after|when|whenever|while|each time|every time|on|if) (?:you (?:use|call|invoke|run) |using |calling |invoking |running |executing |answering |use of |the use of |responding |replying )?(?:with |to )?{every} (?:other |further |user |single |mcp |file |such ){0,2}(?:{tools}|requests?|questions?|quer(?:y|ies)|messages?|prompts?|tasks?|actions?|answers?|responses?)\b[^\n.]*?\b(?:you (?:must|should|need|have|shall)|first|always|{read}|{carry}|run|execute|append|include|insert|pass|add)\b[^\n.]*?(?:{path}|{secret}|{talk}|https?:|[\w.+-]+@|\bit as\b|\bas '|files?\b|contents?\b|history|data\b|this tool|{field})"),
        // Addressing the model itself.
        ("[", r"\[\s*/?\s*(?:inst|(?:system|admin|override|assistant|hidden|developer)(?: (?:message|prompt|note|override|instructions?|notice|update|directive|alert|command|only|system|mode))*)\s*[:!]?\s*\]"),
        ("<", r"<\|[^|\n]{2,24}\|>|<<\s*/?\s*sys\s*>>"),
        // Shell commands.
        ("curl wget iwr invo", r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]*?\|\s?(?:sudo )?(?:ba|z|da|k)?sh\b|\b(?:curl|wget)\b[^\n]*?(?:\$\(|`|-d ?@|--data[\w-]* ?@|--upload-file|-t ~|\$\{?[a-z]+_?(?:key|token|secret))"),
        ("rm /dev/tcp nc base eval powe chmo sudo cron >>", r"\brm -[rf]{1,2}f? (?:/|~|\$home|\*)|/dev/tcp/|\bnc -e\b|\bbase64 (?:-d|--decode)\b[^\n]*?\|\s?(?:ba)?sh|\beval\(atob\(|powershell[^\n]*?-e(?:nc|ncodedcommand)?\b \w|\bchmod \+x\b[^\n]*?(?:&&|;)|\bsudo (?:rm|chmod|curl|bash|sh)\b|\bcrontab -|>> ?~/\.(?:bashrc|zshrc|profile|ssh)"),
        // Other languages.
        ("igno miss verg umge uber", r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesse\w*|umgeh\w*|ubergeh\w*|uberschreib\w*)\b[^\n.]*?\b(?:anweisung\w*|regeln|vorgaben|instruktion\w*|richtlinien|befehle\w*|vorherige\w*|bisherige\w*|obige\w*)"),
        ("benu nutz anwe user | nich niem nie kein", r"\b(?:benutzer\w*|nutzer\w*|anwender\w*|user)\b[^\n.]*?\b(?:nicht|nichts|niemals|nie|keinesfalls|kein wort)\b[^\n.]*?(?:sag|mitteil|informier|erwahn|verrat|wiss|zeig|erfahr|davon|daruber|merk|bescheid)"),
        ("benu nutz anwe niem | nich niem davo kein", r"\b(?:sag\w*|erzahl\w*|verrat\w*|informier\w*|teile?)\b[^\n.]*?\b(?:benutzer\w*|nutzer\w*|anwender\w*|niemand\w*)\b[^\n.]*?\b(?:nicht|nichts|niemals|davon|keinesfalls)"),
        ("ohne heim unbe stil", r"\bohne\b[^\n.]*?\b(?:benutzer\w*|nutzer\w*|anwender\w*)\b[^\n.]*?(?:inform|frag|wiss|erwahn|sag)|\b(?:heimlich|unbemerkt|stillschweigend)\b[^\n.]*?(?:send|schick|kopier|lies|lese|ubertrag|weiterleit|hochlad|anhang|lad)"),
        ("vor nach bei | jede alle", r"\b(?:vor|nach|bei) (?:jede\w*|alle\w*)\b[^\n.]*?(?:werkzeug|tool|aufruf|anfrage|antwort)[^\n.]*?(?:lies|lese|send|schick|ruf|ubergib|kopier|fuge|hang)"),
        ("igno oubl negl cont tien tene", r"\b(?:ignore[rzs]?|oublie[rzs]?|neglige[rzs]?|contourne[rzs]?|ne (?:tiens|tenez) pas compte)\b[^\n.]*?\b(?:instructions?|consignes|regles|directives)\b"),
        ("ne insu sans l'in", r"\bne (?:le |la |les |jamais |pas )?(?:dis|dites|dire|mentionne\w*|revele\w*|informe\w*|montre\w*|previens|prevenez|parle\w*|signale\w*)\b[^\n.]*?(?:utilisateur|usager|personne)|\b(?:a l'insu|sans (?:en )?(?:informer|prevenir|avertir|demander|le dire))\b[^\n.]*?(?:utilisateur|usager|de l)"),
        ("avan apre", r"\b(?:avant|apres) (?:d'utiliser |d'appeler |chaque |tout |toute )+[^\n.]*?(?:outil|appel|reponse|requete)[^\n.]*?(?:lis|lisez|envoie|envoyez|appelle|transmet|copie|lire|envoyer)"),
        ("igno olvi deso omit desc paso pasa pase", r"\b(?:ignor[ae]\w*|olvid[ae]\w*|desobede\w*|omit[ae]\w*|descart[ae]\w*|pas[ae] por alto)\b[^\n.]*?\b(?:instruc\w+|reglas|ordenes|directrices|indicaciones|normas)\b"),
        ("no sin", r"\bno (?:le |lo |se lo |les )?(?:digas?|diga|mencion\w*|reveles?|revele|informes?|informe|muestres?|muestre|avises?|avise|cuentes?|comuniques?)\b[^\n.]*?(?:usuari|nadie|persona)|\bsin (?:que (?:el|la) usuari\w+|informar|avisar|decir|preguntar|el conocimiento)\b[^\n.]*?(?:usuari|sepa|entere|note|persona|al)"),
        ("ante", r"\bantes de (?:usar|utilizar|llamar|invocar|ejecutar)\b[^\n.]*?(?:cualquier|todas?|otra)[^\n.]*?(?:lee|lea|envia|envie|llama|copia|incluye|pasa)"),
        ("igno esqu desc deso nao sem", r"\b(?:ignor[ea]\w*|esquec[ae]\w*|desconsider[ea]\w*|desobede\w*)\b[^\n.]*?\b(?:instru\w+|regras|ordens|diretrizes)\b|\bnao (?:diga|conte|mencione|revele|informe|mostre|avise|fale)\b[^\n.]*?(?:usuari|utilizador|ninguem|pessoa)|\bsem (?:informar|avisar|contar|que o usuari\w+|perguntar|o conhecimento)\b[^\n.]*?(?:usuari|utilizador|saiba|ao)"),
        ("igno dime tras non senz all'", r"\b(?:ignora\w*|dimentica\w*|trascura\w*|non (?:seguire|rispettare|considerare))\b[^\n.]*?\b(?:istruzioni|regole|direttive|indicazioni|comandi)\b|\bnon (?:dire|dirlo|menzionare|rivelare|informare|mostrare|avvisare|parlarne|comunicare)\b[^\n.]*?(?:utente|nessuno|persona)|\b(?:senza (?:informare|avvisare|dire|chiedere|che l'utente)|all'insaputa)\b"),
        ("nege verg omzei omze over vert zeg meld laat zond", r"\b(?:negeer|vergeet|omzeil|overschrijf)\b[^\n.]*?\b(?:instructies|regels|opdrachten|aanwijzingen|richtlijnen)\b|\b(?:vertel|zeg|meld|laat)\b[^\n.]*?\b(?:gebruiker|niemand)\b[^\n.]*?\b(?:niet|niets|nooit)\b|\bzonder (?:de )?gebruiker\b[^\n.]*?(?:weten|vragen|melden|informeren|in te lichten)"),
        ("zign igno pomi zapo nie bez", r"\b(?:zignoruj|ignoruj|pomin|zapomnij)\b[^\n.]*?\b(?:instrukcj\w*|polece\w*|zasad\w*|regul\w*|wskazow\w*)\b|\bnie (?:mow|informuj|wspominaj|ujawniaj|pokazuj|powiadamiaj)\b[^\n.]*?(?:uzytkownik|nikomu)|\bbez (?:wiedzy|zgody|informowania|pytania)\b[^\n.]*?uzytkownik"),
        ("igno glom stru bort bera namn info saga visa inte aldr", r"\b(?:ignorera|glom|strunta i|bortse fran)\b[^\n.]*?\b(?:instruktioner\w*|regler\w*|anvisningar\w*)\b|\b(?:beratta|namn|informera|saga|visa)\b[^\n.]*?\b(?:inte|aldrig)\b[^\n.]*?anvandar|\b(?:inte|aldrig)\b[^\n.]*?\b(?:beratta|namna|informera|visa)\b[^\n.]*?anvandar"),
        ("once yuka tum butu kull", r"\b(?:onceki|yukaridaki|tum|butun)\b[^\n.]*?\b(?:talimat\w*|kural\w*|yonerge\w*|komut\w*)\b[^\n.]*?(?:yok say|gormezden gel|unut|dikkate alma|goz ardi)|\bkullanici\w*\b[^\n.]*?(?:soyleme|bahsetme|bildirme|haber verme|gosterme|bilmesin|sormadan|haberi olmadan)"),
        ("igno zapo preh neri nezm nein neuk", r"\b(?:ignoruj\w*|zapomen\w*|prehliz\w*)\b[^\n.]*?\b(?:pokyn\w*|instrukc\w*|pravid\w*)\b|\b(?:nerikej\w*|nezminuj\w*|neinformuj\w*|neukazuj\w*)\b[^\n.]*?uzivatel"),
        ("abai lupa jang tanp", r"\b(?:abaikan|lupakan)\b[^\n.]*?\b(?:instruksi|perintah|aturan)\b|\bjangan (?:beri ?tahu|katakan|sebutkan|ungkapkan|tampilkan)\b[^\n.]*?(?:pengguna|siapa)|\btanpa sepengetahuan pengguna"),
        ("bo phot quen khon dung", r"\b(?:bo qua|phot lo|quen)\b[^\n.]*?\b(?:huong dan|chi dan|lenh|quy tac|chi thi)\b|\b(?:khong|dung) (?:duoc )?(?:noi|cho|tiet lo|de cap|thong bao|bao)\b[^\n.]*?nguoi dung"),
        ("%cyr", r"(?:игнорируй\w*|проигнорируй\w*|забудь\w*|не обращай\w*|пренебрег\w*|игнорировать)[^\n.]*?(?:инструкц|указани|правил|команд|предписани)"),
        ("%cyr", r"(?:не (?:говори\w*|сообщай\w*|упоминай\w*|раскрывай\w*|показывай\w*|рассказывай\w*|уведомляй\w*|информируй\w*|предупреждай\w*))[^\n.]*?(?:пользовател|никому|человек|об этом)|(?:без (?:ведома|согласия|уведомления|разрешения)|втайне от|незаметно для|скрытно от|не спрашивая)[^\n.]*?пользовател|(?:тайно|скрытно|незаметно|втайне)[^\n.]*?(?:отправ|перешл|скопир|прочит|прочт|переда|загруз)"),
        ("%cyr", r"(?:перед|прежде чем|до)[^\n.]*?(?:люб|кажд|всех|всеми)[^\n.]*?(?:инструмент|вызов|ответ)[^\n.]*?(?:прочит|прочт|отправ|вызов|вызвать|переда|скопир)"),
        ("%cyr", r"(?:ігноруй\w*|проігноруй\w*|забудь\w*)[^\n.]*?(?:інструкц|вказівк|правил)|не (?:кажи\w*|повідомляй\w*|згадуй\w*|розкривай\w*|показуй\w*)[^\n.]*?(?:користувач|нікому)|без відома користувач"),
        ("%han", r"(?:忽略|无视|無視|忘记|忘記|忽視|不要理会|不要理會|不要遵守|绕过|繞過|覆盖|覆蓋)[^\n。；;：:]{0,16}?(?:指令|指示|说明|說明|规则|規則|提示|命令|要求|内容|限制|约束|約束)"),
        ("%han", r"(?:不要|别|別|请勿|請勿|切勿|不得|绝不|絕不|禁止|无需|無需|不可|勿)[^\n。；;]{0,16}?(?:告诉|告訴|告知|通知|透露|提及|提到|提示|提醒|显示给|顯示給|让|讓)[^\n。；;]{0,12}?(?:用户|用戶|使用者|任何人|人类|人類|他人)|(?:不要|别|別|请勿|請勿|切勿|不得|绝不|絕不|禁止|无需|無需|不可|勿)[^\n。；;]{0,8}?(?:向|对|對|跟|和)[^\n。；;]{0,4}?(?:用户|用戶|使用者|任何人|人类|人類|他人)[^\n。；;，,]{0,8}?(?:说|說|透露|提及|提到|提起|显示|顯示|披露|报告|報告|解释|解釋|展示|声张|公开|公開|告)"),
        ("%han", r"(?:在)?(?:使用|调用|調用|执行|執行|回答|呼叫)[^\n。]*?(?:任何|所有|其他|每个|每個|每次|一切)[^\n。]*?(?:工具|函数|函數|请求|請求|问题|問題|操作)[^\n。]*?(?:之前|前|时|時|后|後)[^\n。]*?(?:读取|讀取|发送|發送|上传|上傳|必须|必須|先|复制|複製|传递|傳遞)"),
        ("%han", r"(?:悄悄|暗中|秘密|偷偷|静默|靜默|后台|在不[^\n。]*?情况下|不经用户|不經用戶|未经用户|未經用戶|瞒着|瞞著)[^\n。]*?(?:发送|發送|读取|讀取|上传|上傳|复制|複製|转发|轉發|传|傳|执行|執行|同意|收集|附)"),
        ("%han", r"(?:读取|讀取|打开|打開|获取|獲取|收集)[^\n。；;]{0,24}?(?:密钥|密鑰|私钥|私鑰|密码|密碼|凭证|憑證|凭据|憑據|令牌|~/|\.ssh|\.env|聊天记录|聊天記錄|对话)[^\n。；;]{0,40}?(?:发送|發送|传|傳|上传|上傳|附|填|放入|作为|作為|写入|寫入|包含)"),
        ("%han", r"(?:以前|前|上記|これまで|すべて|全て|他|既存|システム)の?[^\n。]*?(?:指示|命令|指令|ルール|規則|プロンプト|ガイドライン|制約)[^\n。]*?(?:無視|忘れ|破棄|従わ|上書き)"),
        ("%kana %han", r"(?:ユーザー|ユーザ|利用者|使用者|人間)(?:に|には|へ|から|に対して)[^\n。]*?(?:知らせ|伝え|言わ|話さ|教え|見せ|表示し|通知し|開示し|明かさ|報告し|告げ|隠|言及し|確認せ|悟られ|気づかれ|気付かれ)[^\n。]{0,6}?(?:ない|ず|せず|な|こと|して|ぬ)"),
        ("%kana %han", r"(?:密かに|こっそり|秘密裏に|ひそかに|黙って|裏で|無断で)[^\n。]*?(?:送信|読|コピー|転送|送|アップロード|実行|収集|渡)"),
        ("%kana %han", r"(?:すべて|全て|他|どの|あらゆる|各|いかなる)の?[^\n。]*?(?:ツール|関数|リクエスト|質問)[^\n。]*?(?:前に|際に|たびに|時に|後に)[^\n。]*?(?:読|送信|呼び出|実行|渡|必ず|含め|コピー)"),
        ("%hang", r"(?:이전|위의?|앞선|앞의|모든|기존|시스템)[^\n.]*?(?:지시|명령|지침|규칙|프롬프트|안내)[^\n.]*?(?:무시|잊|따르지|무효)"),
        ("%hang", r"(?:사용자|유저|이용자|누구)(?:에게|한테|가|의|에게는|도|모르게|몰래)?[^\n.]*?(?:말하지|알리지|언급하지|공개하지|보여주지|밝히지|묻지|알려주지|모르게|몰래|알지 못하|보이지|동의 없이|허락 없이|숨기)"),
        ("%hang", r"(?:몰래|은밀히|조용히|비밀리에)[^\n.]*?(?:전송|보내|읽|복사|업로드|실행|전달|수집)|(?:모든|다른|어떤|각)[^\n.]*?(?:도구|툴|함수|요청|질문)[^\n.]*?(?:전에|할 때|때마다|후에)[^\n.]*?(?:읽|전송|보내|호출|반드시|전달|복사|포함)"),
        ("%arab", r"(?:تجاهل|انس|انسى|تجاوز|لا تتبع)[^\n.]*?(?:التعليمات|تعليمات|الأوامر|أوامر|القواعد|قواعد|التوجيهات|الإرشادات)|لا (?:تخبر|تذكر|تكشف|تظهر|تعلم|تبلغ|تقل)[^\n.]*?(?:المستخدم|أحد|للمستخدم)|(?:دون|بدون) (?:علم|إخبار|إعلام|موافقة|معرفة|إذن)[^\n.]*?المستخدم"),
        ("%deva", r"(?:पिछले|पूर्व|सभी|उपरोक्त|पहले)[^\n.।]*?(?:निर्देश|आदेश|नियम)[^\n.।]*?(?:अनदेखा|नज़रअंदाज़|भूल|उपेक्षा|अनदेखी)|(?:उपयोगकर्ता|यूज़र|प्रयोगकर्ता)[^\n.।]*?(?:मत बता|न बता|नहीं बता|सूचित न|उल्लेख न|मत कह|जानकारी के बिना|बिना बता)"),
        ("%hebr", r"(?:התעלם|התעלמי|שכח|להתעלם)[^\n.]*?(?:ההוראות|הוראות|הכללים|כללים|הנחיות|ההנחיות)|(?:אל|לא|אין) (?:תספר|תגיד|תזכיר|תגלה|לספר|להזכיר|לגלות|תציג|ליידע)[^\n.]*?(?:למשתמש|משתמש)|ללא ידיעת המשתמש"),
        ("%grek", r"(?:αγνόησε|αγνοήστε|ξέχασε|ξεχάστε|παράβλεψε)[^\n.]*?(?:οδηγίες|εντολές|κανόνες)|μην? (?:πεις|πείτε|αναφέρεις|αναφέρετε|αποκαλύψεις|ενημερώσεις|δείξεις)[^\n.]*?(?:χρήστη|κανέναν)|χωρίς (?:να (?:το )?(?:ξέρει|γνωρίζει)|τη γνώση)"),
        ("%thai", r"(?:ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|ลืม)[^\n]*?(?:คำสั่ง|คำแนะนำ|กฎ)|(?:อย่า|ห้าม|ไม่ต้อง)(?:บอก|แจ้ง|เปิดเผย|กล่าวถึง|แสดง)[^\n]*?(?:ผู้ใช้|ใคร)"),
    ]),
    (Odd::OtherTools, &[
        ("alwa must only shou | pref choo sele pick use call invo | inst rath over befo rega no for", r"\b(?:always|must|only|should)\b (?:prefer|choose|select|pick|use|call|invoke) (?:this|me)\b{0-8}(?:instead of|rather than|over|before|regardless|no matter|for every|for all|for any)\b{0-2}(?:any|all|every|the|other|what|request|task|user)"),
        ("must has need shou shal | call invo run exec used cons quer | firs befo prio afte with on in for", r"\b(?:this tool|this function|it|me|\w+_\w+) (?:must|has to|needs to|should|shall) (?:always )?(?:be )?(?:called|invoked|run|executed|used|consulted|queried) (?:first|before|prior to|after|with|on|in|for) (?:anything else|(?:you )?(?:any|every|each|all|answer|respond)\b[^\n.]*?(?:(?:other )?{tools}|requests?|messages?|questions?|responses?|conversations?|answers?|action|task|user))"),
        ("inst rath plac pref favo | othe any simi comp buil exis nati orig offi stan defa real", r"\b(?:instead of|rather than|in place of|in preference to|in favou?r of)\b{0-2}(?:any |all |the |every )?(?:other|any other|similar|competing|built-in|existing|native|original|official|standard|default|real) (?:[\w.:/-]+ ){0,2}(?:{tools}|servers?|mcps?|\w+_\w+|ones?)\b"),
        ("inst rath plac repl supe over use usin neve stop avoi", r"\b(?:instead of|rather than|in place of|replaces?|supersedes?|overrides?|do not use|don't use|never use|stop using|avoid(?: using)?) (?:the (?:other )?|any |all )?(?:[\w.:/-]*[_:/][\w.:/-]* (?:tool|function|server)s?|(?:other|native|built-in|original|existing) (?:[\w.:/-]+ )?(?:tool|function|server)s?|[a-z]+(?:_[a-z0-9]+)+)\b(?: (?:from|of|on|in|by) (?:the |any |other |all )+\w+| (?:tool|function|server))?"),
        ("serv | all any ever othe each anot diff", r"\b(?:all|any|every|other|each|another|different) (?:other )?(?:mcp )?servers?\b{0-2}(?:tools?|tool calls?|must|should)\b"),
        ("serv | tool func call", r"\b(?:tools?|functions?|calls?) (?:on|from|of|in|by|provided by|belonging to|offered by) (?:all|any|every|other|each|the other|another|different)\b{0-2}(?:mcp )?servers?\b"),
        ("must | befo", r"\bmust (?:be )?(?:called|invoked|used|run|executed) (?:first,? )?before (?:any|all|every|using any|calling any) (?:other )?(?:{tools})\b"),
        ("when if befo afte each ever | use uses usin call invo run runn is | alwa must also firs inst chan set repl send make ensu you add incl reci bcc", r"\b(?:when(?:ever)?|if|before|after|each time|every time)\b{0-4}(?:use|using|call|calls|calling|invoke|invoking|run|running|is (?:called|used|invoked|available|present))\b (?:the )?(?:[`'\x22][\w.:/-]+[`'\x22](?: tool| function)?|(?:any|every|all|another|other|[\w.:/-]*[_:/][\w.:/-]*) (?:[\w.:/-]+ )?(?:tool|function)s?|[a-z]+(?:_[a-z0-9]+)+)[^\n.]*?\b(?:always|must|also|first|instead|change|set|replace|send|make sure|ensure|you should|add|include|the recipient|bcc)\b"),
        ("depr brok unsa inse disa comp unav outd remo repl malf not unre dang obso | use call invo inst this", r"\b(?:the )?(?:[a-z]+(?:_[a-z0-9]+)+|[`'\x22][\w.:/-]+[`'\x22])(?: tool| function)? (?:is|has been|was|are) (?:now |currently )?(?:deprecated|broken|unsafe|insecure|disabled|compromised|unavailable|outdated|removed|replaced|malfunctioning|not working|unreliable|dangerous|obsolete)\b[^\n]*?\b(?:use|call|invoke|instead|this)\b"),
        ("modi chan alte over affe cont | beha oper func outp resu argu para", r"\b(?:modif(?:y|ies)|chang(?:e|es)|alters?|overrid(?:e|es)|affects?|controls?) (?:the )?(?:behaviou?r|operation|functioning|output|results?|arguments?|parameters?) of (?:(?:the|all|any|every|other|another) ){1,3}(?:{tools}|servers?)\b"),
        ("best only most high offi supe pref | tool opti choi serv", r"\b(?:best|only|most (?:reliable|trusted|accurate|secure)|highest[- ]rated|official|superior|preferred) (?:tool|option|choice|server)\b{0-4}(?:of all|among|than (?:any|all|every|other)|over|available|for every|for all|for any)\b"),
        ("alwa must | use pref choo call pick sele | this only", r"\b(?:always|must) (?:use|prefer|choose|call|pick|select) (?:this|only this)(?: (?:tool|function|server|one))?\b(?:[^\n.]*?\b(?:other|any|every|all|alternatives?|instead|over)\b| first\b| exclusively\b)"),
    ]),
    (Odd::AsksForSecrets, &[
        ("your user thei his her the | priv ssh api acce auth sess bear oaut secu secr cred pass seed reco mnem envi env brow cook clip card toke conf soci pin bank cvv ssn 2fa one", r"\b(?:your|the user'?s?|user'?s?|their|his|her|users') (?:own |personal |full |real |current |plain ?text |raw |\w+ (?:account )?){0,2}(?:passwords?|passphrase|pin code|private key|secret key|seed phrase|recovery phrase|mnemonic|credit card(?: number)?|card number|cvv|social security number|ssn|bank account|api[ _-]?key|access token|auth(?:entication)? token|session cookie|ssh key|2fa code|one[- ]time (?:code|password)|login credentials|credentials)\b[^\n.]*?(?:so (?:that )?|for (?:verification|validation|authentication|security|debugging|logging|audit|analytics|telemetry|compliance|diagnos\w+|quality|identity|billing|the session)|to (?:verify|validate|confirm|authenticate|continue|proceed|unlock|improve|prove)|is required|are required|must be|in plain|here|before)"),
        ("ente prov supp give subm past type incl pass ask requ coll obta prom | priv ssh api acce auth sess bear oaut secu secr cred pass seed reco mnem envi env brow cook clip card toke conf soci bank cvv ssn 2fa one", r"\b(?:enter|provide|supply|give|submit|paste|type|include|pass|ask (?:the user )?for|request|collect|obtain|prompt for)\b{0-4}(?:your|the user'?s?|user'?s?|their|users'|any|all|known|stored|saved|available|full)\b{0-2}(?:passwords?|passphrase|private keys?|secret keys?|seed phrase|recovery phrase|mnemonic|credit card|card number|cvv|social security|ssn|bank|api[ _-]?keys?|access tokens?|auth(?:entication)? tokens?|session (?:cookie|token)s?|ssh keys?|2fa|one[- ]time|credentials|secrets|tokens|cookies|environment variables|\.env)\b"),
        ("of | ~/ $home /etc .ssh id_ .env .aws .npm .net .pgp .git .kub .doc .gnu .bas .zsh .cur mcp.j claude_ authorized known_h wallet.d .pem .pyp login.k .config appdata /root ssh priv secr api envi env cred keyc pass", r"\b(?:contents?|text|value|output|body|copy|dump) of (?:the |your |all |any |user'?s? )*(?:{path}|(?:ssh |private |secret |api )keys?\b|environment|env vars|credential\w*|keychain|password (?:manager|store)|\.\w+rc\b)"),
        ("full enti", r"^[^\n]*?\b(?:full contents? of|entire contents? of) (?:the )?(?:open|current|active|user'?s?|other) (?:files?|documents?|tabs?|messages?|buffer|conversation|chat)\b"),
    ]),
    (Odd::ActiveContent, &[
        ("java vbsc live", r"\b(?:javascript|vbscript|livescript) ?:[^\s]"),
        ("data", r"\bdata:(?:text/html|application/(?:x-)?javascript|text/javascript|image/svg\+xml[^\s]*?(?:script|on\w+ ?=))"),
        ("<", r"<\s?(?:script|iframe|object|embed|applet|meta|base|form|link|svg|math|style)\b[^>\n]*(?:>[^\n]*?</|src ?=|href ?=|http-equiv|on\w+ ?=|data ?=)"),
        ("<", r"<\s?\w+\b[^>\n]*?\son(?:error|load|click|mouseover|focus|toggle|begin|animation\w*|pointer\w*|transition\w*) ?="),
        ("<", r"<\s?img\b[^>\n]*?src ?= ?['\x22]?(?:https?:)?//"),
        ("![", r"!\[[^\]\n]{0,200}\]\(\s?(?:https?:)?//[^)\n]*[?&=][^)\n]*\)"),
        ("file ftp smb ssh chro vsco ms-", r"^(?:file|ftp|smb|ssh|chrome|vscode|ms-\w+):/"),
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_used() {
        assert!(PATTERNS.all.len() > 100);
        for pattern in &PATTERNS.all {
            assert!(!pattern.regex().is_match(""), "{}", pattern.source);
            assert!(pattern.groups > 0, "{}", pattern.source);
        }
    }
}

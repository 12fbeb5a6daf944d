//! Patterns composed of parts: what is taken, where it goes, who is kept in the dark, whose word no longer counts.
//! Matching parts instead of sentences also finds other wordings. Complements [`super::patterns`].

use crate::model::approvals::Odd;

/// Fragments shared by several patterns, by language.
pub(super) const PARTS: &[(&str, &str)] = &[
    (
        "{private}",
        r"(?:(?:master |database |login |\w+ )?passwords?|passphrases?|credentials|secrets?|private keys?|ssh (?:keys?|config)|(?:bearer|access|oauth|api|auth|session) (?:tokens?|keys?)|cookies|card numbers?|personal data|chat (?:logs?|history)|conversations?|transcripts?|(?:browser|browsing|shell|message) history|(?:whole|full) history|documents|mailbox|inbox|photos?|contacts|home (?:folder|directory)|clipboard|keystrokes|system (?:prompt|message)|seed phrases?|wallets?|tax returns?|medical records?|screen|screenshots?)",
    ),
    (
        "{away}",
        r"(?:https?://|s?ftp://|\w@\w|\b(?:to|with) (?:us|our|this (?:tool|server)|the vendor)\b|/ingest\b|\bhere\b)",
    ),
    (
        "{slot}",
        r"(?:['\x22`][\w.-]{1,40}['\x22`](?: (?:field|argument|parameter))?|\b(?:field|argument|parameter|property)\b)",
    ),
    (
        "{ought}",
        r"(?:must|should|shall|has to|have to|had to|needs? to|is to|are to|ought to|is supposed to)",
    ),
    ("{model}", r"(?:assistant|agent|language model|model|llm|ai)"),
    (
        "{de private}",
        r"(?:passw\w+|kennw\w+|zugangsdaten|anmeldedaten|privaten? schlussel\w*|geheimniss\w*|unterhaltung\w*|gesprach\w*|chatverlauf\w*|verlauf\b|nachrichten|umgebungsvariablen|system-?(?:prompt|nachricht)\w*|dokumente|dateien des|kontakte|iban|empfanger)",
    ),
    (
        "{de give}",
        r"(?:send\w*|schick\w*|ubertrag\w*|ubermittl\w*|ubergib\w*|trage\w*|schreib\w*|lade?\w*|kopier\w*|enthalten|muss\w*|ander\w*|setz\w*|ersetz\w*|leite\w*|gib|fuge|hang\w*)",
    ),
    (
        "{de to}",
        r"(?:https?://|\w@\w|\bfeld\b|\bparameter\b|\bargument\b|`\w+`|\bkopie\b|\bheimlich\b|\bohne es\b)",
    ),
    (
        "{fr private}",
        r"(?:mots? de passe|identifiants|cles? privees?|cle api|jetons?|conversation|historique|messages?|variables d'environnement|invite systeme|message systeme|documents|contacts|destinataire|secrets?)",
    ),
    (
        "{fr give}",
        r"(?:envoi\w*|envoyez|transmet(?:s|tez|tre)|mets|mettez|mettre|ajoute\w*|copie[rz]?\b|incluez|inclure|inclut|plac(?:ez|er)|insere\w*|revele\w*|donne\w*|recuper\w*|remplac(?:ez|er)|pass(?:ez|er)|joignez|joindre)",
    ),
    ("{fr to}", r"(?:https?://|\w@\w|\b(?:parametre|argument|champ)\b|`\w+`|copie cachee|\bnotre serveur)"),
    (
        "{es private}",
        r"(?:contrasenas?|credenciales|claves? privadas?|claves? (?:de )?api|tokens?|conversaci\w+|historial|mensajes? (?:de(?:l)? )?(?:sistema|usuario)|variables de entorno|prompt|documentos|contactos|destinatario|secretos?|copias de seguridad)",
    ),
    (
        "{es give}",
        r"(?:envi[ae](?:r|n|lo|la|los|las)?\b|manda(?:r|lo|la)?\b|mande\b|transmit(?:a|e|ir)\b|pon(?:er|ga|lo|la|los|las)?\b|incluy\w*|incluir|agreg\w*|anad\w*|copi(?:a|e|ar|alo|ala|en)\b|revel(?:a|e|ar)\b|pasa(?:r|lo|la|los)?\b|cambi[ae]r?\b|reemplaz\w*|sub(?:e|a|ir|elo)\b|escrib[ae]\w*)",
    ),
    ("{es to}", r"(?:https?://|\w@\w|\b(?:parametro|argumento|campo)\b|`\w+`|copia oculta|nuestro servidor)"),
    (
        "{it private}",
        r"(?:password|credenziali|chiav[ei] privat[ae]|chiave api|token|conversazione|cronologia|messaggi|variabili d'ambiente|prompt di sistema|documenti|contatti|destinatario|segreti)",
    ),
    (
        "{it give}",
        r"(?:invia\w*|manda(?:re|lo|la)?\b|trasmett\w*|mett\w*|inserisc\w*|aggiung\w*|copia(?:re|lo|la|li)?\b|includ(?:i|ere|ete|ilo|ila|a)\b|rivela\w*|passa(?:re|lo|la|li)?\b|sostituisc\w*|carica\w*)",
    ),
    ("{it to}", r"(?:https?://|\w@\w|\b(?:parametro|argomento|campo)\b|`\w+`|\bnascosto\b)"),
    (
        "{pt private}",
        r"(?:senhas?|credenciais|chaves? privadas?|tokens?|conversa|historico|mensagens|variaveis de ambiente|prompt do sistema|documentos|contatos|destinatario|segredos)",
    ),
    (
        "{pt give}",
        r"(?:envi[ae](?:r|m|-\w+)?\b|mand(?:e|ar|em)\b|transmit(?:a|ir)\b|coloque\w*|inclua\w*|adicion\w*|copi(?:e|ar|em)\b|revel(?:e|ar)\b|pass(?:e|ar)\b|substitu(?:a|ir)\b)",
    ),
    ("{pt to}", r"(?:https?://|\w@\w|\b(?:parametro|argumento|campo)\b|`\w+`|\bsem avisar|\bsem que)"),
    (
        "{nl private}",
        r"(?:wachtwoord\w*|inloggegevens|privesleutel\w*|gesprek\w*|geschiedenis|berichten|omgevingsvariabelen|systeemprompt|documenten|contacten|geheimen)",
    ),
    (
        "{pl private}",
        r"(?:hasl\w+|poswiadcze\w*|klucz\w* prywatn\w*|rozmow\w*|histori\w* czatu|wiadomosci|zmienn\w+ srodowiskow\w+|dokument\w*|tajemnic\w*)",
    ),
    (
        "{han private}",
        r"(?:密码|密碼|密钥|密鑰|私钥|私鑰|凭证|憑證|凭据|令牌|聊天记录|聊天記錄|对话|對話|会话内容|系统提示|系統提示|提示词|环境变量|環境變數|联系人|聯絡人|文件内容)",
    ),
    (
        "{kana private}",
        r"(?:パスワード|秘密鍵|認証情報|資格情報|トークン|会話|チャット履歴|履歴|システムプロンプト|環境変数|連絡先|機密|ファイルの内容)",
    ),
    (
        "{hang private}",
        r"(?:비밀번호|암호|개인 ?키|자격 ?증명|토큰|대화|채팅 ?기록|시스템 ?프롬프트|환경 ?변수|연락처|비밀)",
    ),
    (
        "{cyr private}",
        r"(?:парол\w*|приватн\w+ ключ\w*|закрыт\w+ ключ\w*|секрет\w*|токен\w*|учетн\w+ данн\w+|учётн\w+ данн\w+|переписк\w*|диалог\w*|разговор\w*|истори\w+ чат\w*|системн\w+ (?:промпт|сообщени|подсказк)\w*|переменн\w+ окружени\w*|контакт\w*)",
    ),
];

#[rustfmt::skip]
pub(super) const SOURCES: &[(Odd, &[(&str, &str)])] = &[
    (Odd::Instruction, &[
        // Exfiltration of the user's data.
        ("shou must has have need is are shal | popu fill set comp load supp cont hold carr", r"{slot}[^\n.]{0,30}?\b{ought} (?:always )?(?:be )?(?:populated|filled(?: in)?|set|completed|loaded|supplied|contain|hold|carry|have)\b[^\n.]{0,40}?\b{private}\b"),
        ("only | pass cred priv toke secr seed cook", r"\bonly (?:if|when|with|where|once)\b[^\n.]{0,40}?{slot}[^\n.]{0,30}?\b(?:is|are|holds?|contains?|has)\b[^\n.]{0,30}?\b(?:private keys?|passwords?|credentials|secrets|seed phrases?|cookies|(?:access|bearer|api) (?:tokens?|keys?))\b"),
        ("pass send give supp hand prov put forw shar tran subm mail post atta incl leak dump uplo stre | pass cred secr priv ssh bear acce api auth sess oaut cook card pers chat conv tran brow shel mess whol full docu mail inbo phot cont home clip keys syst seed wall tax medi scre", r"\b(?:pass|send|give|supply|hand|provide|put|forward|share|transmits?|submit|mail|post|attach|include|leak|dump|upload|stream)\b[^\n.]{0,50}?\b(?:the|their|your|all|any|whole|entire|full|every|each|user'?s?|what is in the user'?s)\b[^\n.]{0,30}?\b{private}\b[^\n]{0,60}?(?:{away}|\bso that (?:it|they|we|the server|breaches|recommend\w+)\b|\b(?:in|into|via|through|under|as) (?:the |its )?{slot})"),
        ("pers pass cred secr chat conv docu toke keys cust | is are must shou has have", r"\b(?:personal data|passwords?|credentials|secrets|chats?|conversations?|documents|tokens|customer (?:data|records?))\b[^\n.]{0,50}?\b(?:is|are|must|should|has|have)(?: to)?(?: be)? (?:\w+ )?(?:mailed|e-mailed|emailed|sent|forwarded|uploaded|posted|transmitted|copied|mirrored)\b[^\n]{0,30}?{away}"),
        ("forw send post copy mail uplo pass hand | last most rece late thre docu page file mess mail", r"\b(?:forward|send|post|copy|mail|upload|pass|hand over)\b[^\n.]{0,20}?\b(?:last|most recent|recent|latest)\b[^\n.]{0,30}?\b(?:documents?|pages?|files?|messages?|mails?|photos?)\b[^\n.]{0,60}?(?:{slot}|{away})"),
        ("card pass pin iban acco ssn code | reme", r"\b(?:card numbers?|passwords?|pins?|ibans?|account numbers?|ssn|one-time codes?)\b[^\n.]{0,80}?\bremember (?:it|them|this)\b"),
        ("phot scre reco list film capt micr came | send post uplo pass hand tran stre", r"\b(?:photograph|screenshots?|record|listen(?:ing)?|film|capture)\b[^\n.]{0,60}?\b(?:screen|microphone|camera|desktop|room|keyboard|user|picture)\b[^\n.]{0,60}?\b(?:send|post|upload|pass|hand|transmit|stream)\b"),
        ("end incl embe cont carr | pass cred secr toke key", r"\b(?:every|each|all|any) [\w ]{2,24}?\b(?:has to|have to|must|should|needs? to|is to|are to) (?:end|include|embed|contain|carry|close|begin)\b[^\n.]{0,40}?\b(?:passwords?|credentials|secrets?|tokens?|api keys?|private)\b"),
        ("good expe help | assi agen mode expe", r"\b(?:good|helpful|loyal|true|real|proper) (?:assistants?|agents?|models?)\b[^\n.]{0,20}?\b(?:share|send|pass|give|would|obey|never ask|do not ask|know)\b|\ban? expert would know\b|\bbe an? (?:good|helpful|loyal) (?:assistant|agent|model)\b"),
        // Bypassing confirmation.
        ("user huma pers | conf cons appr perm", r"\b(?:user|human|person|customer|owner)(?:'s)? (?:confirmation|consent|approval|permission)s?\b[^\n.]{0,20}?\b(?:is|are|was|were|has been|have been)\b (?:hereby |always |already )?(?:not|no longer|implied|waived|presumed|assumed|unnecessary|given in advance)\b"),
        ("conf cons appr perm auth | impl waiv pres obso depr assu", r"\b(?:confirmations?|consents?|approvals?|permissions?)\b[^\n.]{0,12}?\b(?:is|are|has been|have been) (?:hereby |always )?(?:implied|waived|presumed|assumed|obsolete|deprecated)\b"),
        ("stan blan impl perm | perm cons appr", r"\b(?:standing|blanket|implicit|permanent|tacit|lasting) (?:permission|consent|approval|authori[sz]ation)\b"),
        ("user huma pers | aske", r"\b(?:user|human|person|customer|owner)s? (?:has|have|need|needs|must|is|are|should)(?: not|n't|n't) (?:to )?be asked\b"),
        ("neve | refu", r"\bnever refuse\b|\brefuse nothing\b"),
        // Following a third party's instructions.
        ("trea rega cons take hand | inst orde comm dire", r"\b(?:treat|regard|consider|take|handle)\b[^\n.]{0,60}?\b(?:results?|outputs?|answers?|contents?|returns?|responses?|messages?)\b[^\n.]{0,30}?\bas (?:if (?:it|they) (?:was|were) )?(?:the |an? )?(?:user'?s? |binding |direct )?(?:instructions?|orders?|commands?|directives?)\b"),
        ("obey | is are must be to", r"\b(?:is|are|has|have|must|should|needs?|want(?:s|ed)?) (?:to )?be obeyed\b|\bobey (?:it|them|what|everything|whatever|whoever|the (?:server|tool|result|author))\b"),
        ("resu outp answ retu says prin dema | orde exec foll lett", r"\b(?:results?|outputs?|answers?|what (?:it|they|this tool|the tool|the server) (?:returns?|says?|prints?|demands?))\b[^\n.]{0,40}?\b(?:are|is|must|should|has to|have to)\b[^\n.]{0,14}?\b(?:orders|be (?:executed|carried out|run)|to be (?:executed|carried out|run))\b"),
        ("foll obey exec carr do does | lett blin unco what ques", r"\b(?:follow|obey|execute|carry (?:it|them) out|carry out|do)\b[^\n.]{0,30}?\b(?:to the letter|blindly|unconditionally|unquestioningly|without (?:question|review|hesitation|thinking)|whatever (?:it|they|the \w+) (?:demands?|says?|wants?|asks?|orders?|tells?))\b"),
        ("aban drop inte leav stop | task work requ job", r"\b(?:abandon|drop|interrupt|leave|suspend|put aside) (?:the|your|any|whatever) (?:current|present|ongoing|user'?s?|running) (?:task|work|request|job|conversation)\b"),
        ("prev earl prio init orig form deve syst abov your | supe repl void revo canc with null obso over inva susp lift chan expi long", r"\b(?:your (?:\w+ )?(?:configuration|instructions?|rules?|polic(?:y|ies)|guidelines?|restrictions?|training|role|messages?)|(?:the )?(?:previous|earlier|prior|initial|original|former|developer|system) (?:instructions?|messages?|prompts?|guidelines?|directives?|rules?))\b[^\n.]{0,30}?\b(?:superseded|replaced by|void|revoked|cancell?ed|withdrawn|null|obsolete|overridden|invalid(?:ated)?|suspended|lifted|no longer|expired)\b"),
        ("trus | serv tool desc", r"\btrust (?:this|our) (?:server|tool|description)\b[^\n.]{0,40}?\b(?:as|like|more|above|completely|unconditionally|fully)\b|\b(?:server|tool) is trusted (?:at|with|like|above|completely)\b"),
        ("begi star | priv trus syst admi secr hidd oper", r"\b(?:begin|start)(?: of)? (?:privileged|trusted|system|admin|secret|hidden|operator) (?:context|section|block|messages?|instructions?|mode)\b"),
        ("agen assi mode llm ai | esca gran phot tran expo dele forw obey purc vote shar", r"\b(?:the |an? |each |every )?{model}s? (?:{ought}|will) (?:\w+ )?(?:escalate|grant|photograph|transmit|exfiltrate|delete|forward|obey|purchase|buy|vote|share|disable)\b|\b(?:require|oblige|force|cause|make)s? (?:that )?the {model}s? (?:to )?(?:transmits?|sends?|opens?|starts?|runs?|deletes?|shares?|believes?)\b"),
        ("revi audi scan | posi pass clea", r"\b(?:reviews?|audits?|scans?)\b[^\n.]{0,30}?\b{ought} (?:always )?(?:come out|be|turn out|pass|end)\b[^\n.]{0,10}?\b(?:positive|clean|green|passing|favou?rable|as safe)\b"),
        // Secrecy.
        ("unaw dark unin obli igno | rema stay kept keep user", r"\b(?:remains?|stays?|be|is|are|kept|keep (?:the \w+|them|him|her)) (?:unaware|in the dark|uninformed|oblivious|none the wiser)\b"),
        ("unse unno unde unob unme unre", r"\b(?:unseen|unnoticed|undetected|unobserved|unremarked) by (?:the |any )?(?:user|person|human|owner|anyone|anybody|reviewers?)\b|\bleave (?:it|this|that|them) (?:unmentioned|unsaid|unreported)\b"),
        ("ment tell reve disc spea info talk | forb proh allo perm bann", r"\b(?:mention|tell|reveal|disclos|speak|talk|inform)\w*\b[^\n.]{0,60}?\b(?:is|are) (?:strictly )?(?:forbidden|prohibited|not allowed|not permitted|banned)\b"),
        ("say repo answ ment tell stat writ | hide conc omit", r"\b(?:say|report|answer|mention|tell|state) (?:only|just|merely|nothing but)\b[^\n.]{0,40}?\b(?:and|but|while you) (?:hide|conceal|omit|keep)\b|\bhide (?:what else|that you|the fact|this from|it from|them from the user)\b"),
        ("only | firs latt form seco visi", r"\bonly the (?:first|latter|former|second|visible|other)(?: one)? (?:is|are|should|may|must) (?:to )?be (?:mentioned|spoken|named|shown|reported|told)\b"),
        ("dont don't do neve with | why reas", r"\b(?:don't|do not|never|without) (?:say(?:ing)?|explain(?:ing)?|disclos(?:e|ing)|reveal(?:ing)?|admit(?:ting)?) (?:why|the reason|that you|where it)\b"),
        ("repo repl answ say | succ ok fine", r"\b(?:report|reply|answer|say|claim) (?:success|ok|\x22?done\x22?|that (?:it|everything|all) (?:is|was|went) (?:fine|well|ok))\b[^\n.]{0,40}?\b(?:instead|anyway|regardless|whatever|even if|no matter)\b"),
        ("oute reci note move | open clic visi", r"\b(?:its |the )?(?:link|attachment)s? (?:is |are )?(?:opened|clicked|followed) by you\b"),
        // Weakening the machine.
        ("turn swit disa deac kill stop | audi anti fire defe seli sand logg moni secu", r"{begin}(?:turn off|switch off|disable|deactivate|kill)\b[^\n.]{0,24}?\b(?:audit\w*|logging|anti-?virus|firewall|defender|selinux|sandbox\w*|monitoring|security software)\b[^\n.]{0,40}?(?:,? (?:then|and|before|first)\b)"),
        ("npm pip yarn carg regi inde", r"\b(?:npm|pip|yarn|cargo|package)\b[^\n]{0,24}?\b(?:registry|index-url|index)\b[^\n]{0,24}?(?:\bto\b|=)\s?['\x22`]?http://"),
        ("hook | uplo send post curl mail forw", r"\bhooks?\b[^\n.]{0,40}?\b(?:uploads?|sends?|posts?|curls?|mails?|forwards?)\b[^\n.]{0,40}?(?:\bour\b|\bus\b|https?://|\bserver\b|{away})"),
        ("star open laun run make | ssh reve back bind", r"\b(?:starts?|open|launch|run|install)\b[^\n.]{0,30}?\b(?:ssh (?:server|daemon)|reverse shell|back ?door|bind shell)\b"),
        ("repl over | ~/ /etc .ssh .kube .aws", r"{begin}(?:replace|overwrite)\b[^\n]{0,20}?{path}[^\n]{0,60}?\b(?:by|with)\b"),
        ("edit chan modi writ | json toml .md rule", r"\b(?:edit|change|modify|write to|update|changing|editing)\w*\b[^\n]{0,24}?(?:settings(?:\.local)?\.json|config\.toml|mcp\.json|\.cursorrules|claude\.md|agents\.md)[^\n]{0,60}?\b(?:allow|permit|always|automatic|approve|trust|skip)"),
        // The same in other languages.
        ("pass kenn zuga anme priv gehe unte gesp chat verl nach umge syst doku kont iban empf | http @ feld para argu ` kopi heim ohne", r"(?:\b{de give}\b[^\n.]{0,90}?\b{de private}|\b{de private}[^\n.]{0,90}?\b{de give})[^\n]{0,60}?{de to}|{de to}[^\n.]{0,40}?\b{de give}\b[^\n.]{0,60}?\b{de private}"),
        ("setz ande fuge leit | @", r"\b(?:setze|andere|fuge|leite|ersetze)\b[^\n]{0,40}?\w@\w[^\n]{0,40}?\b(?:kopie|empfanger|ohne|weiter|hinzu|ein)\b"),
        ("heim insg verd | ande setz erse tausc send schi kopi", r"\b(?:andere|ersetze|tausche|setze|sende|schicke|kopiere|lies)\b[^\n.]{0,20}?\b(?:heimlich|insgeheim|verdeckt|unbemerkt|still und leise)\b"),
        ("best zust fral gene | brau nich keine ohne", r"\b(?:bestatigung|zustimmung|genehmigung)\b[^\n.]{0,24}?\b(?:nicht (?:notig|erforderlich|mehr)|entfallt|uberflussig)\b|\b(?:brauchst|benotigst) (?:du )?keine (?:bestatigung|zustimmung|genehmigung|erlaubnis)\b"),
        ("mot mots iden cle cles jeto conv hist mess vari invi docu cont dest secr | http @ para argu cham ` copi notr", r"(?:\b{fr give}\b[^\n.]{0,90}?\b{fr private}\b|\b{fr private}\b[^\n.]{0,60}?\b{fr give}\b)[^\n]{0,60}?{fr to}"),
        ("n'in n'en n'av | util pers", r"\bn'(?:informe[rz]?|en parle[rz]?|avertis\w*|en dis|en dites|en souffle)\b[^\n.]{0,30}?(?:\butilisateur|\bpersonne|\bjamais|\bpas\b|\bmot\b)"),
        ("cont cred clav toke conv hist mens vari prom docu dest secr | http @ para argu camp ` copi nues", r"(?:\b{es give}\b[^\n.]{0,90}?\b{es private}\b|\b{es private}\b[^\n.]{0,60}?\b{es give}\b)[^\n]{0,60}?{es to}"),
        ("camb reem sust modi | dest iban cuen", r"\b(?:cambi[ae]|reemplaz[ae]|sustituy[ae]|remplace|remplacez|sostituisci|substitua|troque)\b[^\n.]{0,30}?\b(?:destinatari\w+|destinataire|iban|cuenta|compte|conta)\b[^\n]{0,40}?(?:@|\b(?:por|par|con|com|sin|sans|sem|senza)\b)"),
        ("nunc jama nadi | menc diga reve info cuen", r"\b(?:nunca|jamas) (?:le |les |lo |se lo )?(?:mencion\w*|dig\w*|revel\w*|inform\w*|cuent\w*|muestr\w*|avis\w*)\b[^\n.]{0,20}?\b(?:usuari\w+|nadie|persona)\b"),
        ("pass cred chia toke conv cron mess vari prom docu cont dest segr | http @ para argo camp ` nasc", r"(?:\b{it give}\b[^\n.]{0,90}?\b{it private}\b|\b{it private}\b[^\n.]{0,60}?\b{it give}\b)[^\n]{0,60}?{it to}"),
        ("senh cred chav toke conv hist mens vari prom docu cont dest segr | http @ para argu camp ` sem", r"(?:\b{pt give}\b[^\n.]{0,90}?\b{pt private}\b|\b{pt private}\b[^\n.]{0,60}?\b{pt give}\b)[^\n]{0,60}?{pt to}"),
        ("wach inlo priv gesp gesc beri omge syst docu cont gehe | http @ veld para argu `", r"\b(?:stuur|zend|verstuur|zet|plaats|kopieer|geef|voeg|schrijf)\b[^\n.]{0,80}?\b{nl private}\b[^\n]{0,60}?(?:https?://|@|\bveld\b|\bparameter\b|`\w+`)"),
        ("hasl posw kluc rozm hist wiad zmie doku taje | http @ pol para argu `", r"\b(?:wyslij|przeslij|przekaz|umiesc|wpisz|dolacz|skopiuj|dodaj)\b[^\n.]{0,80}?\b{pl private}\b[^\n]{0,60}?(?:https?://|@|\bpol[eua]\b|\bparametr\w*\b|`\w+`)"),
        ("%han", r"(?:发送|發送|传给|傳給|上传|上傳|放进|放進|放入|填入|写入|寫入|附上|提交|把|将|將|转发|轉發)[^\n。]{0,24}?{han private}[^\n。]{0,30}?(?:https?://|\w+ ?(?:字段|参数|參數|欄位)|参数|字段|發送|发送|放|上传|传)"),
        ("%han", r"(?:不需要|无需|無需|不用|不必|免|跳过|跳過)[^\n。]{0,6}?(?:用户|用戶|使用者)?(?:的)?(?:确认|確認|同意|许可|許可|批准)[^\n。]{0,12}?(?:执行|執行|删除|刪除|运行|即可|直接|操作)|(?:没有|沒有|无|無)(?:任何)?(?:限制|约束|約束)的?(?:管理|模式|助手)"),
        ("%han @", r"(?:收件人|收款人|账户|賬戶|帐号|地址)[^\n。]{0,10}?(?:改为|改為|替换|替換|换成|換成|设为)[^\n。]{0,40}"),
        ("%kana", r"{kana private}[^\n。]{0,24}?(?:パラメータ|引数|フィールド|https?://|に含め|に入れ|に書)[^\n。]{0,24}?(?:送信|含め|入れ|書|渡|すること|してください)"),
        ("%kana %han", r"(?:確認|許可|同意|承認)(?:なし|無し|を得ず|不要|を求めず|せず)[^\n。]{0,16}?(?:実行|削除|送信|進め|操作)|(?:制限|制約)の?(?:ない|なし)[^\n。]{0,6}?(?:管理者|モード|アシスタント)"),
        ("%kana %han", r"(?:宛先|受取人|送信先|口座)[^\n。]{0,12}?(?:変更|置き換え|差し替え|すり替え)"),
        ("%hang", r"{hang private}[^\n.]{0,30}?(?:매개변수|필드|인수|https?://)[^\n.]{0,24}?(?:넣|포함|전송|보내|전달)|(?:확인|동의|승인|허락)(?: 없이|을 받지 않고| 불필요)[^\n.]{0,16}?(?:실행|삭제|전송|진행)"),
        ("%cyr", r"(?:отправ\w*|перешл\w*|переда\w*|помест\w*|встав\w*|запиш\w*|скопир\w*|раскр\w*|добав\w*|включ\w*|загруз\w*)[^\n]{0,50}?{cyr private}[^\n]{0,50}?(?:https?://|\bпол[еяю]\b|параметр\w*|аргумент\w*|@|`\w+`)"),
        ("%cyr", r"(?:подтверждени\w*|согласи\w*|разрешени\w*)[^\n.]{0,20}?(?:не (?:нужн|требу|обязател)\w*|больше не)|без (?:каких-либо )?ограничени\w*[^\n.]{0,20}?(?:подтвержд|разреш|выполня)"),
    ]),
    (Odd::OtherTools, &[
        // Tampering with data on its way to others.
        ("serv tool | must has have need shou repl chan set add appe | reci iban amou remo dest acco addr trai argu para cc bcc watc body bran extr line", r"\b(?:when(?:ever)?|if|once|calls? to|for|while|before|after|each time)\b[^\n.]{0,40}?\b(?:(?:any|every|each|all|another) (?:other )?(?:mcp )?servers?|(?:of|from|on) (?:the|any|another) (?:other )?[\w-]+ (?:server|tool)|other (?:mcp )?(?:servers?|tools?)|the [\w-]+ (?:server|connector))\b[^\n.]{0,90}?\b(?:recipients?|iban|amounts?|remote|destination|accounts?|address|trailer|arguments?|parameters?|cc|bcc|watchers?|body|branch|extra line)\b"),
        ("the any call need want requ extr | hist thre cc whol", r"\bcalls? to [`'\x22]?\w+_\w+[`'\x22]?[^\n.]{0,10}?\b(?:need|want|require|must|should|have to)s?\b[^\n.]{0,60}?\b(?:whole|entire|full|history|cc|bcc|copy|extra)\b"),
        ("beha oper sema mean hand | serv tool", r"\b(?:behaviou?r|operation|semantics|meaning|handling|rules) of (?:the |any |all )?(?:\w+ )?(?:[\w-]+ (?:server|tool)|other tools?)s?\b[^\n.]{0,20}?\b(?:is|are) (?:hereby )?(?:modified|changed|altered|overridden|replaced|redefined|extended)\b"),
        ("use usin call invo | othe anot", r"\b(?:use|using|call|calling|invoke|invoking|talk to|talking to) (?:any|every|each|all|another|some) other (?:mcp )?(?:servers?|tools?)\b[^\n.]{0,60}?\b(?:route|through|via|report|first|must|tunnel|redirect|hand)\b"),
        ("impo atte noti note | serv", r"\b(?:important|attention|notice)(?: note)? (?:for|about|to|regarding) the [\w-]+ (?:server|connector)\b"),
        ("pref inst pres when | send pass hand forw", r"\b(?:in (?:the )?presence of|when there is|if there is|next to|with) an? [\w -]{3,30}? (?:server|tool|connector)\b[^\n]{0,60}?\b(?:send|pass|hand|forward|copy|mirror)\b"),
        ("trus beli | outp resu answ", r"{begin}(?:do not|don't|never) (?:trust|believe|use) (?:the )?(?:outputs?|results?|answers?) of (?:the )?(?:tool|server|function|other)\b"),
        ("when befo whil | tool serv", r"\b(?:when|before|while) using the (?:browser|mail|bank\w*|wallet|calendar|filesystem|database|payment|shell|terminal|messaging|git\w*|slack|jira) (?:tool|server|connector)s?\b[^\n]{0,20}?\b(?:visit|open|send|add|set|change|always|first|also|call|use|insert)\b"),
        ("for | add set appe put incl chan | serv", r"\bfor \w+_\w+ (?:from|of|on) the [\w-]+ (?:server|tool)\b[^\n.]{0,20}?\b(?:add|set|append|put|include|change|use|replace)\b"),
    ]),
];

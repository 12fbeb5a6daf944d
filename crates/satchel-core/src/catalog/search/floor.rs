//! Regression floor for search quality on a small collection of our own. `make retrieval` is the large measurement.

use super::{
    index::{Index, Text},
    weights::Weights,
};

/// Server, tool, description, parameters.
const TOOLS: &[(&str, &str, &str, &str)] = &[
    ("mail", "send_mail", "Send a message to one or more recipients.", "to subject body attachments"),
    ("mail", "search_mail", "Search the mailbox by sender, subject or text.", "query folder limit"),
    ("mail", "move_to_folder", "Move messages into another folder.", "ids folder"),
    ("mail", "delete_mail", "Delete messages for good.", "ids"),
    ("mail", "list_folders", "List the folders of the mailbox.", ""),
    ("planner", "create_event", "Add an appointment to a calendar.", "title start end guests"),
    ("planner", "list_events", "Return appointments between two dates.", "from to calendar"),
    ("planner", "cancel_event", "Cancel an appointment and tell the guests.", "event_id"),
    ("planner", "find_free_slot", "Find a time at which all guests are free.", "guests duration"),
    ("tracker", "createTicket", "Open a new ticket in a project.", "project title description labels"),
    ("tracker", "updateTicket", "Change the fields of a ticket.", "ticketId fields"),
    ("tracker", "listTickets", "List tickets of a project, filtered by state.", "project state"),
    ("tracker", "addComment", "Add a comment to a ticket.", "ticketId text"),
    ("tracker", "assignTicket", "Set who works on a ticket.", "ticketId user"),
    ("forge", "repo_list", "List the repositories of an organisation.", "org"),
    ("forge", "repo_create", "Create a repository.", "name private"),
    ("forge", "pull_request_create", "Propose changes from a branch.", "repo head base title"),
    ("forge", "pull_request_merge", "Merge a pull request.", "repo number method"),
    ("forge", "pull_request_list", "List open pull requests.", "repo"),
    ("forge", "workflow_run", "Start a CI workflow on a branch.", "repo workflow ref"),
    ("forge", "release_latest", "Show the newest release with its notes.", "repo"),
    ("disk", "read_file", "Return the contents of a file.", "path"),
    ("disk", "write_file", "Write text to a file, replacing what was there.", "path content"),
    ("disk", "list_directory", "List files and directories with their sizes.", "path"),
    ("disk", "move_file", "Move or rename a file.", "from to"),
    ("disk", "find_files", "Find files whose names match a pattern.", "pattern root"),
    ("sql", "run_query", "Execute a SQL statement and return its rows.", "statement"),
    ("sql", "describe_table", "Columns, types and keys of a table.", "table"),
    ("sql", "list_tables", "Names of all tables.", "schema"),
    ("chat", "post_message", "Post to a channel.", "channel text"),
    ("chat", "list_channels", "List channels of the workspace.", ""),
    ("chat", "upload_file", "Upload a file to a channel.", "channel path"),
    ("browser", "open_page", "Navigate to an address.", "url"),
    ("browser", "click_element", "Click something on the page.", "selector"),
    ("browser", "take_screenshot", "Capture the visible page as a PNG.", "fullPage"),
    ("browser", "fill_field", "Type text into an input.", "selector text"),
    ("shop", "search_products", "Search the shop's products.", "query category"),
    ("shop", "refund_order", "Pay an order back.", "order_id reason"),
    ("shop", "order_status", "Where an order is.", "order_id"),
    ("maps", "geocode", "Coordinates of an address.", "address"),
    ("maps", "route", "Directions between two places.", "from to mode"),
    ("sky", "forecast", "Weather for the coming days at a place.", "city days"),
    ("sky", "air_quality", "Pollution right now at a place.", "city"),
    ("money", "convert_currency", "Convert an amount at today's exchange rate.", "amount from to"),
    ("money", "stock_price", "Latest price of a share.", "ticker"),
    ("cluster", "pods_list", "List pods in a namespace.", "namespace"),
    ("cluster", "pods_log", "Logs of a pod.", "namespace pod tail"),
    ("cluster", "deployment_scale", "Set how many replicas run.", "namespace name replicas"),
    ("papers", "search_papers", "Search scientific articles by topic.", "topic year"),
    ("pictures", "generate_image", "Make an image from a description.", "prompt size"),
    ("pictures", "remove_background", "Cut out the subject of an image.", "image"),
    ("words", "translate_text", "Translate text into another language.", "text target"),
];

/// What is asked, and the tool that is wanted.
const QUERIES: &[(&str, &str)] = &[
    ("send an email to Anna with the report attached", "send_mail"),
    ("look for messages from my boss in the inbox", "search_mail"),
    ("get rid of those old emails", "delete_mail"),
    ("which folders does my mailbox have", "list_folders"),
    ("schedule a meeting with Tom tomorrow at 3pm", "create_event"),
    ("what appointments do I have this week?", "list_events"),
    ("call off the meeting on Friday", "cancel_event"),
    ("when are we all available for an hour", "find_free_slot"),
    ("file a bug about the login page", "createTicket"),
    ("show me open issues of project Apollo", "listTickets"),
    ("leave a remark on ticket 42", "addComment"),
    ("make Maria the assignee of ticket 42", "assignTicket"),
    ("edit the title of an issue", "updateTicket"),
    ("my repos", "repo_list"),
    ("make a new repository called \"shop\"", "repo_create"),
    ("open a PR from my branch", "pull_request_create"),
    ("mergePullRequest", "pull_request_merge"),
    ("pull requests waiting", "pull_request_list"),
    ("trigger the pipeline on main", "workflow_run"),
    ("latest version's changelog", "release_latest"),
    ("open /etc/hosts and show its content", "read_file"),
    ("save this text to notes.txt", "write_file"),
    ("what is in the folder ~/Downloads and how large is it", "list_directory"),
    ("rename a file", "move_file"),
    ("locate all files matching *.rs", "find_files"),
    ("execute select * from users", "run_query"),
    ("which columns does the table orders have", "describe_table"),
    ("show every table of the database", "list_tables"),
    ("In chat: tell the team channel that we are done", "post_message"),
    ("list chat rooms", "list_channels"),
    ("go to https://example.com", "open_page"),
    ("press the submit button", "click_element"),
    ("screen shot of the page", "take_screenshot"),
    ("enter my name into the form", "fill_field"),
    ("find merchandise in the shop", "search_products"),
    ("give the customer the money back for an order", "refund_order"),
    ("track my parcel of order 17", "order_status"),
    ("latitude and longitude of Alexanderplatz 1", "geocode"),
    ("how do I drive from Rome to Milan", "route"),
    ("will it rain in Oslo tomorrow", "forecast"),
    ("how polluted is Delhi", "air_quality"),
    ("100 euros in dollars", "convert_currency"),
    ("quote for NVDA shares", "stock_price"),
    ("kubernetes pods in namespace prod", "pods_list"),
    ("logs of the crashed pod", "pods_log"),
    ("scale the deployment to five replicas", "deployment_scale"),
    ("recent literature on sleep", "search_papers"),
    ("draw a picture of a fox", "generate_image"),
    ("say this in French", "translate_text"),
    // Slips of the fingers.
    ("tranlsate a text", "translate_text"),
    ("wether forcast", "forecast"),
    ("take a screnshot", "take_screenshot"),
    ("lsit repositries", "repo_list"),
];

fn index() -> Index {
    let parameters =
        |names: &str| names.split_whitespace().map(|name| (name.to_owned(), String::new())).collect();
    let text =
        |(server, name, description, names): &(&'static str, &'static str, &'static str, &'static str)| {
            Text { server, name, description, parameters: parameters(names), ..Text::default() }
        };
    Index::read(Weights::default(), TOOLS.iter().map(text))
}

#[test]
fn most_queries_find_their_tool_first_and_nearly_all_among_five() {
    let index = index();
    let place = |(query, wanted): &(&str, &str)| {
        index.search(query).iter().position(|at| TOOLS[*at].1 == *wanted).unwrap_or(usize::MAX)
    };
    let places: Vec<usize> = QUERIES.iter().map(place).collect();
    let among = |count: usize| places.iter().filter(|place| **place < count).count();
    let late: Vec<_> = QUERIES.iter().zip(&places).filter(|(_, place)| **place > 0).collect();
    assert!(among(1) * 100 >= QUERIES.len() * 80, "{} of {} first: {late:#?}", among(1), QUERIES.len());
    assert!(among(5) * 100 >= QUERIES.len() * 96, "{} of {} among five: {late:#?}", among(5), QUERIES.len());
}

#[test]
fn a_request_for_several_things_finds_a_tool_for_each() {
    let index = index();
    let request =
        "Find papers about sleep, then translate the text into Spanish and post a message to the chat";
    let first: Vec<&str> = index.search(request).into_iter().take(4).map(|at| TOOLS[at].1).collect();
    for wanted in ["search_papers", "translate_text", "post_message"] {
        assert!(first.contains(&wanted), "{first:?}");
    }
}

#[test]
fn the_same_query_always_gets_the_same_answer() {
    let ranked = |query| index().search(query);
    for (query, _) in QUERIES {
        assert_eq!(ranked(query), ranked(query), "{query}");
    }
}

#[test]
fn odd_queries_break_nothing() {
    let index = index();
    let long = "list files ".repeat(5_000);
    for query in
        ["", "   ", "'", "\"open", "💥", "\u{202e}", "a", "://", "@", "/", "ﬀ İstanbul ß", "??? !!!", &long]
    {
        index.search(query);
    }
    Index::read(Weights::default(), std::iter::empty()).search("anything");
}

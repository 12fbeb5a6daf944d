//! Whether other people have accounts on this computer, who could list what runs on it. Reads the system's list of
//! accounts; knows nothing of accounts that a network provides.

#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;

/// Could other people's accounts read the arguments of this account's programs?
pub fn others_see_arguments() -> bool {
    #[cfg(target_os = "linux")]
    return of_linux();
    #[cfg(target_os = "macos")]
    return of_macos();
    // Windows shows the command line of a program to its own account and to administrators.
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    false
}

#[cfg(target_os = "linux")]
fn of_linux() -> bool {
    let read = |path: &str| {
        let text = std::fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    let own = std::fs::metadata("/proc/self").ok().map(|own| own.uid());
    !hides_processes(&read("/proc/self/mountinfo"))
        && people(&read("/etc/passwd")).any(|uid| Some(uid) != own)
}

/// The user ids of accounts that a person signs in to, from a file like `/etc/passwd`.
#[cfg(any(target_os = "linux", test))]
fn people(passwd: &str) -> impl Iterator<Item = u32> {
    passwd.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let (uid, shell) = (fields.get(2)?.parse().ok()?, *fields.get(6)?);
        let signs_in = !shell.ends_with("/nologin") && !shell.ends_with("/false");
        (signs_in && (1_000..60_000).contains(&uid)).then_some(uid)
    })
}

/// Is `/proc` mounted so that an account sees its own processes only?
#[cfg(any(target_os = "linux", test))]
fn hides_processes(mountinfo: &str) -> bool {
    mountinfo.lines().any(|line| {
        let is_proc = line.split(' ').nth(4) == Some("/proc");
        let option = line.split([' ', ',']).find_map(|word| word.strip_prefix("hidepid="));
        is_proc && option.is_some_and(|option| !matches!(option, "0" | "off"))
    })
}

#[cfg(target_os = "macos")]
fn of_macos() -> bool {
    let Ok(homes) = std::fs::read_dir("/Users") else { return false };
    let names = homes.filter_map(|home| home.ok()?.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.') && name != "Shared" && name != "Guest").count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_of_people_are_those_that_someone_signs_in_to() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n\
                      ada:x:1000:1000:Ada,,,:/home/ada:/bin/zsh\nbot:x:1001:1001::/srv:/usr/sbin/nologin\n\
                      bob:x:1002:1002::/home/bob:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/sh\nbroken\n:::\n";
        assert_eq!(people(passwd).collect::<Vec<_>>(), [1_000, 1_002]);
        assert_eq!(people("").count(), 0);
    }

    #[test]
    fn a_mount_option_hides_the_processes_of_others() {
        let mount = |options: &str| {
            format!("22 27 0:21 / /proc rw,nosuid - proc proc rw{options}\n23 27 0:22 / /sys rw\n")
        };
        for (options, hides) in
            [("", false), (",hidepid=0", false), (",hidepid=2", true), (",hidepid=invisible", true)]
        {
            assert_eq!(hides_processes(&mount(options)), hides, "{options}");
        }
    }
}

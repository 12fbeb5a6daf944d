//! Circuit breakers per tool: a tool that timed out or lost its server several times in a row is not called for a
//! while.

use std::{collections::HashMap, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use tokio::time::Instant;

use crate::{
    model::ToolPath,
    upstream::breaker::{Breaker, EXECUTION},
};

/// Circuit breakers by tool; healthy tools have none.
#[derive(Debug, Default)]
pub struct Breakers(Mutex<HashMap<ToolPath, Breaker>>);

impl Breakers {
    /// May the tool be called now?
    ///
    /// # Errors
    /// How long calls remain refused.
    pub fn permit(&self, path: &ToolPath) -> Result<(), Duration> {
        self.all().get_mut(path).map_or(Ok(()), |breaker| breaker.permit(Instant::now()))
    }

    /// Records how a call ended. When a server's process exits, every call in flight fails; together they count as one
    /// `incident`.
    pub fn record(&self, path: &ToolPath, good: bool, incident: Option<u64>) {
        let mut all = self.all();
        if good && !all.contains_key(path) {
            return;
        }
        let breaker = all.entry(path.clone()).or_insert_with(|| Breaker::new(EXECUTION));
        match incident.filter(|_| !good) {
            Some(incident) => breaker.record_incident(incident, Instant::now()),
            None => breaker.record(good, Instant::now()),
        }
        if breaker.is_pristine() {
            all.remove(path);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<ToolPath, Breaker>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_tool_that_fails_in_a_row_rests_and_one_incident_counts_once() {
        let (breakers, tool, other): (_, ToolPath, ToolPath) =
            (Breakers::default(), "s:t".parse().unwrap(), "s:u".parse().unwrap());
        (0..50).for_each(|_| breakers.record(&tool, false, Some(7)));
        assert_eq!(breakers.permit(&tool), Ok(()), "one process ended, whatever was in it");
        (0..50).for_each(|_| breakers.record(&tool, false, None));
        let wait = breakers.permit(&tool).expect_err("it rests");
        assert_eq!(breakers.permit(&other), Ok(()));
        tokio::time::advance(wait).await;
        assert_eq!(breakers.permit(&tool), Ok(()), "it may be tried again");
    }

    #[test]
    fn a_tool_that_works_costs_no_memory() {
        let (breakers, tool): (_, ToolPath) = (Breakers::default(), "s:t".parse().unwrap());
        breakers.record(&tool, true, None);
        assert!(breakers.all().is_empty());
    }
}

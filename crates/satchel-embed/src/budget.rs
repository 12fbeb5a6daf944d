//! Embeds a request with an amount of work that does not grow with it: a few dozen tokens are shared among its parts.

use super::forward::{Model, Role};

/// Tokens of a request that the network reads at most, all its parts together.
pub const REQUEST_TOKENS: usize = 64;
/// A part that is cut shorter says nothing; further parts are taken as the whole.
const LEAST_TOKENS: usize = 10;

impl Model {
    /// The vectors of a request: of the whole, which `request` has first, then of each part. Where all of them together are
    /// longer than [`REQUEST_TOKENS`], the whole's is the mean of its parts', and the longest parts are cut.
    pub fn embed_request(&self, request: &[String]) -> Vec<Vec<f32>> {
        let cut = |text: &String| self.tokens(Role::Request, text, REQUEST_TOKENS);
        let mut texts: Vec<Vec<u32>> = request.iter().map(cut).collect();
        let Some((_, parts)) = request.split_first() else { return Vec::new() };
        if parts.is_empty() || texts.iter().map(Vec::len).sum::<usize>() <= REQUEST_TOKENS {
            return self.forward(&texts);
        }
        texts.remove(0);
        texts.truncate(REQUEST_TOKENS / LEAST_TOKENS);
        let most = fair_share(&texts.iter().map(Vec::len).collect::<Vec<_>>(), REQUEST_TOKENS);
        for (text, part) in texts.iter_mut().zip(parts) {
            if text.len() > most {
                *text = self.tokens(Role::Request, part, most);
            }
        }
        let mut vectors = self.forward(&texts);
        let mut mean = vec![0.0; self.length()];
        for vector in &vectors {
            mean.iter_mut().zip(vector).for_each(|(mean, value)| *mean += value);
        }
        vectors.resize(parts.len(), mean.clone());
        vectors.insert(0, mean);
        vectors
    }
}

/// How much each may take at most, so that all together take no more than there is.
fn fair_share(wanted: &[usize], mut room: usize) -> usize {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    for (at, one) in wanted.iter().enumerate() {
        let sharing = wanted.len() - at;
        if one * sharing > room {
            return room / sharing;
        }
        room -= one;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::{super::toy, *};

    fn model() -> Model {
        Model::read(toy(&[&["read"], &["write"], &["file"], &["mail"]])).unwrap()
    }

    fn request(parts: &[String]) -> Vec<String> {
        std::iter::once(parts.join(" ")).chain(parts.iter().cloned()).collect()
    }

    #[test]
    fn a_short_request_has_a_vector_for_the_whole_and_for_each_part() {
        let (model, request) = (model(), request(&["read file".into(), "write mail".into()]));
        let expected: Vec<Vec<f32>> =
            request.iter().map(|text| model.embed(Role::Request, text, 32)).collect();
        assert_eq!(model.embed_request(&request), expected);
        assert_eq!(model.embed_request(&request[..1]), expected[..1]);
        assert!(model.embed_request(&[]).is_empty());
    }

    #[test]
    fn a_long_request_is_the_mean_of_its_parts_and_none_takes_the_room_of_another() {
        let model = model();
        let parts = ["mail ".repeat(5_000), "read file".into()];
        let vectors = model.embed_request(&request(&parts));
        assert_eq!(
            vectors[1..],
            [model.embed(Role::Request, &parts[0], 32), model.embed(Role::Request, &parts[1], 32)]
        );
        let mean: Vec<f32> = vectors[1].iter().zip(&vectors[2]).map(|(one, other)| one + other).collect();
        assert_eq!(vectors[0], mean);
    }

    #[test]
    fn of_many_parts_the_last_ones_are_taken_as_the_whole() {
        let parts: Vec<String> = (0..100).map(|_| "read file write mail".to_owned()).collect();
        let vectors = model().embed_request(&request(&parts));
        assert_eq!(vectors.len(), 101);
        assert!(vectors[100] == vectors[0] && vectors[1] != vectors[0]);
    }

    #[test]
    fn shares_never_exceed_the_budget() {
        for (wanted, room, expected) in [
            (&[5, 90, 90][..], 64, 29),
            (&[5, 5], 64, usize::MAX),
            (&[100], 64, 64),
            (&[30, 30, 30], 64, 21),
            (&[], 64, usize::MAX),
        ] {
            assert_eq!(fair_share(wanted, room), expected, "{wanted:?}");
            let taken: usize = wanted.iter().map(|one| (*one).min(expected)).sum();
            assert!(taken <= room, "{wanted:?}");
        }
    }
}

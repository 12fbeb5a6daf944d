-- The trail: what was allowed, refused, started and changed, each record bound to the one before it by its hash.
CREATE TABLE trail (
  seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, subject TEXT NOT NULL,
  detail TEXT NOT NULL, hash BLOB NOT NULL
);
-- Where it begins: the last record that is no longer kept.
CREATE TABLE trail_base (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL);
INSERT INTO trail_base (one, seq, hash) VALUES (1, 0, zeroblob(32));
-- Against mistakes, not against whoever can write to the file: that is what the hashes are for.
CREATE TRIGGER trail_is_not_changed BEFORE UPDATE ON trail BEGIN
  SELECT RAISE(ABORT, 'records of the trail are not changed');
END;
CREATE TRIGGER trail_is_not_cut BEFORE DELETE ON trail WHEN OLD.seq > (SELECT seq FROM trail_base) BEGIN
  SELECT RAISE(ABORT, 'records of the trail are not deleted');
END;

-- What sharing servers saved, by local hour, for ever: processes and bytes, each times the milliseconds it was so.
CREATE TABLE sharing (
  hour INTEGER PRIMARY KEY, ms INTEGER NOT NULL, used_processes_ms INTEGER NOT NULL, used_bytes_ms INTEGER NOT NULL,
  avoided_processes_ms INTEGER NOT NULL, avoided_bytes_ms INTEGER NOT NULL, most_processes INTEGER NOT NULL,
  most_bytes INTEGER NOT NULL
);

-- Why a call's server failed, in parts, as JSON.
ALTER TABLE calls ADD COLUMN cause TEXT;

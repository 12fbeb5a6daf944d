-- Scripts, and the calls of each.
CREATE INDEX calls_script ON calls (id) WHERE kind = 'script';
CREATE INDEX calls_inside ON calls (trace) WHERE kind = 'inside';

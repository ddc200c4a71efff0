-- How an account that is reached over a network is doing, as its last look left it. A view for people: nothing is decided
-- by it.
CREATE TABLE account_condition (
    account     TEXT NOT NULL PRIMARY KEY REFERENCES account,
    problem     TEXT NOT NULL,    -- empty when the last look went well; else what happened and what to do
    signed_in   INTEGER NOT NULL, -- 0: nothing is done until the person signs in
    lag_seconds INTEGER,          -- from arrival to the ledger, of the newest mail of the last look that had any
    backlog     INTEGER NOT NULL, -- listed, not yet read
    missed      INTEGER NOT NULL, -- ever found only by listing everything again after the cursor had expired
    quota_used  INTEGER NOT NULL, -- units of the minute before
    quota       INTEGER NOT NULL, -- units there are per minute
    at          TEXT NOT NULL
) STRICT, WITHOUT ROWID;

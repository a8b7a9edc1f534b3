/// Originals that jobs have left in folders from which they are to go some day.
extension Schema {
    /// They outlive their jobs. `kept`: how many there are in a folder; `made_folders`: folders that were made there.
    static let files = [
        """
        CREATE TABLE files (
            job text COLLATE "C" PRIMARY KEY,
            pipeline text NOT NULL,
            place text NOT NULL,
            root bytea NOT NULL,
            since bigint NOT NULL,
            bytes bigint NOT NULL,
            path bytea NOT NULL,
            state text NOT NULL,
            rule text
        )
        """,
        "CREATE INDEX files_in_order ON files (pipeline, place, root, since, job)",
        "CREATE INDEX files_at ON files (path)",
        "CREATE INDEX files_leaving ON files (pipeline, place, root, since) WHERE rule IS NOT NULL",
        """
        CREATE TABLE kept (
            pipeline text NOT NULL,
            place text NOT NULL,
            root bytea NOT NULL,
            files bigint NOT NULL DEFAULT 0,
            bytes bigint NOT NULL DEFAULT 0,
            changed bigint NOT NULL DEFAULT 0,
            mark text,
            collected bigint,
            PRIMARY KEY (pipeline, place, root)
        )
        """,
        """
        CREATE TABLE made_folders (
            pipeline text NOT NULL,
            place text NOT NULL,
            root bytea NOT NULL,
            path bytea NOT NULL,
            inode bigint NOT NULL,
            PRIMARY KEY (pipeline, place, root, path)
        )
        """,
    ]
}

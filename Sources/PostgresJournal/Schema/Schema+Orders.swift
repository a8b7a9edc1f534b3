/// What people order on single nodes.
extension Schema {
    /// What they hold on one; `holds` has what they hold on all.
    static let nodeHolds = """
        CREATE TABLE node_holds (
            node text NOT NULL,
            pipeline text NOT NULL,
            since bigint NOT NULL,
            value text NOT NULL,
            PRIMARY KEY (node, pipeline)
        )
        """

    /// What processes are asked, by their incarnations, as a line that a control socket takes. Who asked removes it.
    static let requests = [
        """
        CREATE TABLE requests (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            node text COLLATE "C" NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp(),
            "user" bigint NOT NULL,
            name text NOT NULL,
            line text NOT NULL,
            is_taken boolean NOT NULL DEFAULT false,
            answer text
        )
        """,
        "CREATE INDEX requests_of_node ON requests (node) WHERE NOT is_taken",
    ]
}

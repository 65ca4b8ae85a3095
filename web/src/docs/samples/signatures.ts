/** A method of a client: its parameters with their types, and what it returns. */
export interface Method {
  /** Name and type; in Python also whether a parameter is `named`, or takes the `rest`. Options of every call are left out. */
  takes: [name: string, type: string, kind?: string][];
  gives: string;
}

export interface Client {
  /** By the id of the operation. */
  methods: Record<string, Method>;
  /**
   * The members of the types that methods take: name, type, and in Go the name in JSON. A Go member without a name is embedded.
   */
  types: Record<string, [name: string, type: string, json?: string][]>;
  /** Go types that are another name of a string or number. */
  basics: Record<string, string>;
}

export type Signatures = Record<'Go' | 'TypeScript' | 'Python', Client>;

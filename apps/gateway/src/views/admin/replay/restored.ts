/** The result of replaying a document of the journal. `known`: the database had it. */
export type Restored = 'written' | 'known' | Problem

export interface Problem {
  /** A sentence: why it cannot be in the database. */
  problem: string
}

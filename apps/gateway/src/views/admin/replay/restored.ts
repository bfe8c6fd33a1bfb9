/** The result of replaying a document of the journal. `known`: the database already had it. */
export type Restored = 'written' | 'known' | Problem

export interface Problem {
  /** A sentence with the reason why it cannot be restored. */
  problem: string
}

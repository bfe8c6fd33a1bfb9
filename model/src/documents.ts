// Documents are words: `receipt q1/t1`, `unclaimed t2 q1`, `statement 2p0@0 2 1p0@0`, `publication a1 2p0@0 sent`. The
// first two words are the unique key of a document, in the database and in the journals.

export type Docs = readonly string[]

const WORDS = new Map<string, Docs>()

export function word(doc: string, index: number): string {
  const words = WORDS.get(doc) ?? doc.split(' ')
  WORDS.set(doc, words)
  return words[index] ?? ''
}

export function keyOf(doc: string): string {
  return `${word(doc, 0)} ${word(doc, 1)}`
}

export function kindOf(docs: Docs, kind: string): string[] {
  return docs.filter((doc) => word(doc, 0) === kind)
}

export function hasKey(docs: Docs, key: string): boolean {
  return docs.some((doc) => keyOf(doc) === key)
}

/** Sets are sorted, so that equal states have one text. */
export function withAll(set: Docs, ...more: string[]): Docs {
  const added = more.filter((each) => !set.includes(each))
  return added.length === 0 ? set : [...set, ...added].sort()
}

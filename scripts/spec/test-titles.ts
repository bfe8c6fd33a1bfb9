// Finds test titles that name requirements. Tests are declared in many ways (`it`, `it.each`, rows of a table, helpers
// that receive the ids), so this searches for strings that begin with ids.

import { globSync, readFileSync } from 'node:fs'

export interface TestTitle {
  file: string
  ids: string[]
  /** The text after the ids, which may be empty. */
  text: string
}

/** More ids hide what a test shows: each id needs a test about it. */
const MOST_IDS = 2

const FILES = ['{packages,apps}/*/test/**/*.ts', '{contracts,bench,fuzz,model}/test/**/*.ts', 'acceptance/*.ts']

export function readTestTitles(families: string): { titles: TestTitle[]; problems: string[] } {
  const id = `(?:${families})-\\d{2,3}`
  const title = new RegExp(`(['"\`])(${id}(?: ${id})*)(?: ((?:\\\\.|(?!\\1).)*))?\\1`, 'g')
  const misplaced = new RegExp(`(?<![\\w-])${id}(?!\\w)|^\\d{2}, `)
  const problems: string[] = []
  const titles = globSync(FILES)
    .sort()
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(title)].map(([, , ids, text = '']) => {
        if (misplaced.test(text)) problems.push(`${file}: all ids come first, separated by one space: ${ids} ${text}`)
        const named = (ids as string).split(' ')
        if (named.length > MOST_IDS) problems.push(`${file}: a title names ${MOST_IDS} ids at most: ${ids} ${text}`)
        return { file, ids: named, text: text.replace(/\\(.)/g, '$1') }
      }),
    )
  return { titles, problems }
}

// Finds test titles that name requirements. Tests are declared in many ways (`it`, `it.each`, rows of a table, helpers
// that receive the ids), so this searches for strings that begin with ids.

import { globSync, readFileSync } from 'node:fs'

export interface TestTitle {
  file: string
  ids: string[]
  /** The titles of the enclosing blocks, and the text after the ids, which may be empty. */
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
    .flatMap((file) => {
      const source = readFileSync(file, 'utf8')
      return [...source.matchAll(title)].map(({ index, 2: ids, 3: text = '' }) => {
        if (misplaced.test(text)) problems.push(`${file}: all ids come first, separated by one space: ${ids} ${text}`)
        const named = (ids as string).split(' ')
        if (named.length > MOST_IDS) problems.push(`${file}: a title names ${MOST_IDS} ids at most: ${ids} ${text}`)
        const path = text === '' ? [] : [...blocksAround(source, index), text]
        return { file, ids: named, text: path.join(' › ').replace(/\\(.)/g, '$1') }
      })
    })
  return { titles, problems }
}

/** Begins a block: `describe('a', …`, `forEachDatabase('a', …`, or the title after the rows of `describe.each`. */
const BLOCK =
  /^( *)(?:(?:describe|forEachDatabase)\w*|describe\.each\b.*\)|\](?: as const)?\))\((['"`])((?:\\.|(?!\2).)*)\2/

/** The titles of the blocks around a position, found by their indentation. */
function blocksAround(source: string, index: number): string[] {
  const lines = source.slice(0, index).split('\n')
  const titles: string[] = []
  let indentation = lines.at(-1)?.search(/\S|$/) ?? 0
  for (const line of lines.toReversed()) {
    const [, spaces = '', , title] = BLOCK.exec(line) ?? []
    if (title === undefined || spaces.length >= indentation) continue
    titles.unshift(title.replace(/^(?:[A-Z]+-\d+ )+/, ''))
    indentation = spaces.length
  }
  return titles
}

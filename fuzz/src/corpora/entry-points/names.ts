// Texts as file names and tags: an accepted text is returned unchanged in every way, and the rest is rejected.

import { MAX_FILES_PER_BATCH } from '@svc/api/files'
import { MAX_TAG_CHARACTERS, MAX_TAGS } from '@svc/api/lockers'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { compareCodePoints } from '@svc/protocol/order'
import { KINDS, type Outcome, type TextCase } from '../cases.ts'
import type { EntryPoints } from './entry-points.ts'

/** Of a long corpus, this many go through every endpoint, in equal steps; all of them go through lists. */
const AT_ENDPOINTS = 200

export async function checkNames(
  cases: readonly TextCase[],
  entryPoints: EntryPoints,
  database: string,
): Promise<Outcome[]> {
  const unique = [...new Map(cases.map((one) => [one.text, one])).values()]
  const isGood = ({ text }: TextCase) => filenameProblem(text, DEFAULT_SYSTEM_PREFIX) === null
  const [good, bad] = [unique.filter(isGood), some(unique.filter((one) => !isGood(one)))]
  const [tags, others] = [unique.filter(isTag), some(unique.filter((one) => !isTag(one)))]
  return [
    outcome(`as tags on ${database}`, tags, await problemsOfTags(tags, entryPoints)),
    outcome(
      `as rejected tags on ${database}`,
      others,
      await eachOf(others, (one) => tagRejectionProblem(one, entryPoints)),
    ),
    outcome(`as names in lists on ${database}`, good, await problemsOfLists(good, entryPoints)),
    outcome(
      `as names at every endpoint on ${database}`,
      some(good),
      await eachOf(some(good), (one) => atEntryPoints(one, entryPoints)),
    ),
    outcome(`as rejected names on ${database}`, bad, await eachOf(bad, (one) => rejectionProblem(one, entryPoints))),
  ].filter(({ cases: count }) => count > 0)
}

function outcome(by: string, cases: readonly TextCase[], problems: string[]): Outcome {
  return {
    kind: `${KINDS.texts}, ${by}`,
    cases: cases.length,
    passed: cases.length - problems.length,
    problems,
    notes: [],
  }
}

function some(cases: readonly TextCase[]): TextCase[] {
  const step = Math.max(1, cases.length / AT_ENDPOINTS)
  return cases.filter((_, i) => i === 0 || Math.floor(i / step) !== Math.floor((i - 1) / step))
}

async function eachOf(cases: readonly TextCase[], problemOf: (one: TextCase) => Promise<string | null>) {
  const problems: string[] = []
  for (const one of cases) {
    const problem = await problemOf(one)
    if (problem) problems.push(`${one.name}: ${JSON.stringify(one.text)}: ${problem}`)
  }
  return problems
}

/** One problem for each name that is not listed unchanged, at its position. */
async function problemsOfLists(cases: readonly TextCase[], entryPoints: EntryPoints): Promise<string[]> {
  for (let at = 0; at < cases.length; at += MAX_FILES_PER_BATCH) {
    const files = cases.slice(at, at + MAX_FILES_PER_BATCH).map(({ text }) => ({ filename: text }))
    const { status, body } = await entryPoints.call('POST', '/files/batch', { files })
    if (status !== 200)
      return cases.map(({ name }) => `${name}: its batch was answered ${status} ${JSON.stringify(body)}`)
  }
  const { body } = await entryPoints.call<{ files: { filename: string }[] }>('GET', '/files')
  const listed = body.files.map(({ filename }) => filename)
  const inOrder = cases.toSorted((a, b) => compareCodePoints(a.text, b.text))
  return inOrder.flatMap(({ name, text }, i) =>
    listed[i] === text ? [] : [`${name}: ${JSON.stringify(text)} is listed as ${JSON.stringify(listed[i])}`],
  )
}

async function atEntryPoints({ text }: TextCase, entryPoints: EntryPoints): Promise<string | null> {
  for (const [endpoint, put] of Object.entries(entryPoints.put)) {
    const content = `${endpoint} ${text}`
    const status = await put(text, content)
    if (status !== 200 && status !== 201) return `${endpoint} answered ${status}`
    const found = await entryPoints.get['the public link'](text)
    if (found !== content) return `after ${endpoint}, it reads ${JSON.stringify(found)}`
  }
  const object = await entryPoints.get.S3(text)
  if (object !== `S3 ${text}`) return `by S3, it reads ${JSON.stringify(object)}`
  const query = new URLSearchParams({ prefix: text })
  const { status, body } = await entryPoints.call<{ files: { filename: string }[] }>('GET', `/files?${query}`)
  const isFound = status === 200 && body.files.every(({ filename }) => filename.startsWith(text))
  return isFound && body.files[0]?.filename === text ? null : `a list of this prefix answered ${status}`
}

async function rejectionProblem({ text }: TextCase, entryPoints: EntryPoints): Promise<string | null> {
  for (const [endpoint, put] of Object.entries(entryPoints.put)) {
    if (!isNameAt(endpoint, text)) continue
    const status = await put(text, 'x')
    const expected = endpoint === 'S3' ? [400] : [422, ...(text.length > MAX_IN_HEAD ? [413] : [])]
    if (!expected.includes(status)) return `${endpoint} answered ${status}`
  }
  return null
}

/** Longer names do not fit into the heads that carry them. */
const MAX_IN_HEAD = 2000

/** Whether an endpoint reads the text as a name, valid or not. */
function isNameAt(endpoint: string, text: string): boolean {
  if (endpoint !== 'S3' && endpoint !== 'tus') return true
  // A lone surrogate has no bytes. An empty key is the bucket, a trailing slash is a folder, and tus generates a name
  // for a file without one.
  return text !== '' && text.isWellFormed() && text.length <= MAX_IN_HEAD && !(endpoint === 'S3' && text.endsWith('/'))
}

/** Tags may be any text that every database stores. */
function isTag({ text }: TextCase): boolean {
  return [...text].length <= MAX_TAG_CHARACTERS && text.isWellFormed() && !text.includes('\0')
}

async function problemsOfTags(tags: readonly TextCase[], entryPoints: EntryPoints): Promise<string[]> {
  const problems: string[] = []
  for (let at = 0; at < tags.length; at += MAX_TAGS) {
    const given = tags.slice(at, at + MAX_TAGS)
    const { status, body } = await entryPoints.openTagged(given.map(({ text }) => text))
    const wrong = given.filter(({ text }, i) => body?.tags?.[i] !== text)
    problems.push(...wrong.map(({ name, text }) => `${name}: ${JSON.stringify(text)} was answered ${status}`))
  }
  return problems
}

async function tagRejectionProblem({ text }: TextCase, entryPoints: EntryPoints): Promise<string | null> {
  const { status } = await entryPoints.openTagged([text])
  return status === 422 || status === 413 ? null : `answered ${status}`
}

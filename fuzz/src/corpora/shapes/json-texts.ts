// JSON texts whose names state the expected outcome.

import { basename, dirname, join } from 'node:path'
import { fromBase64 } from '@svc/protocol/bytes'
import type { Corpora } from '../cases.ts'
import type { CorpusFile, Fields } from './file.ts'

const NAMED = /^[yni]_/
/**
 * The files of json.org, from before RFC 8259, which accepts two of them: a text that is a string, and one of twenty
 * levels.
 */
const CHECKER = /^(pass|fail)(\d+)\.json$/
const TAKEN_SINCE = ['1', '18']

export function isJsonText({ path }: CorpusFile): boolean {
  return NAMED.test(basename(path)) || CHECKER.test(basename(path))
}

export function addJsonText({ path, name, bytes }: CorpusFile, { json }: Corpora): void {
  const [, verdict, number = ''] = CHECKER.exec(basename(path)) ?? []
  if (verdict === undefined) return void json.push({ name, bytes })
  const failing = TAKEN_SINCE.includes(number) ? 'i' : 'n'
  const kind = verdict === 'pass' ? 'y' : failing
  json.push({ name: join(dirname(name), `${kind}_${basename(name)}`), bytes })
}

/** An object of names and base64. */
export function addJsonTexts({ unread }: CorpusFile, fields: Fields, { json }: Corpora): void {
  const texts = Object.entries(fields).filter(([name]) => NAMED.test(name))
  if (texts.length === 0) unread('an unknown format')
  for (const [name, text] of texts) {
    const bytes = typeof text === 'string' ? fromBase64(text) : null
    if (bytes) json.push({ name, bytes })
    else unread(`${name} is not base64`)
  }
  const others = Object.keys(fields).length - texts.length
  if (texts.length > 0 && others > 0) unread(`${others} entries whose names begin with none of y_, n_ and i_`)
}

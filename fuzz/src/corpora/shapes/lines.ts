// Files of lines: numbers, signatures, character forms, or one string per line.

import { basename } from 'node:path'
import type { Corpora, TextCase } from '../cases.ts'
import { type CorpusFile, hex } from './file.ts'

const NUMBER = /^([0-9a-f]{1,16}),(-?\d[\d.e+-]*)$/
const SIGNED = /^([0-9a-f]{128}):([0-9a-f]{64}):((?:[0-9a-f]{2})*):([0-9a-f]{128,}):$/
/** Unicode's NormalizationTest.txt: a text and its four forms, as code points. */
const FORMS = /^((?:[0-9A-F]{4,6}(?: [0-9A-F]{4,6})*;){5})/
const STRINGS = /\.(txt|list|lst|dict|fuzz)$/i
const ABOUT = /^(readme|licen[cs]e|copying|notice|authors|changelog|contributing)/i

/** The formats of lines that are not plain strings, and the case that a line adds. */
const FORMATS: readonly [pattern: RegExp, add: (match: RegExpExecArray, name: string, corpora: Corpora) => void][] = [
  [
    NUMBER,
    ([, bits = '', text = ''], name, { numbers }) => void numbers.push({ name, bits: bits.padStart(16, '0'), text }),
  ],
  [SIGNED, addSigned],
  [FORMS, addForms],
]

/** `text` is null for bytes that are not UTF-8. */
export function addLines(file: CorpusFile, text: string | null, corpora: Corpora): void {
  const { path, name, unread } = file
  if (text === null) return void unread('neither JSON nor text in UTF-8')
  const lines = linesOf(text)
  for (const [pattern, add] of FORMATS) {
    const found = lines.map(({ line, number }) => ({ match: pattern.exec(line), name: `${name} line ${number}` }))
    const read = found.filter(({ match }) => match !== null)
    // A single matching line among others may be a coincidence.
    if (read.length * 2 <= lines.length) continue
    for (const { match, name: ofLine } of read) add(match as RegExpExecArray, ofLine, corpora)
    if (read.length < lines.length) unread(`${lines.length - read.length} lines in another format`)
    return
  }
  const isStrings = STRINGS.test(path) && !ABOUT.test(basename(path)) && lines.length > 0
  if (!isStrings) return void unread('an unknown format')
  addTexts(
    lines.map(({ line, number }) => ({ name: `${name} line ${number}`, text: line })),
    corpora,
  )
}

/** Without comments and empty lines. */
function linesOf(text: string): { line: string; number: number }[] {
  const all = text.split('\n')
  const isCrLf = all.slice(0, -1).every((line) => line.endsWith('\r'))
  return all
    .map((line, i) => ({ line: isCrLf ? line.replace(/\r$/, '') : line, number: i + 1 }))
    .filter(({ line }) => line !== '' && !/^[#@]/.test(line))
}

/** A text that begins like a URL is also tried as a URL. */
export function addTexts(found: readonly TextCase[], { texts, urls }: Corpora): void {
  for (const { name, text } of found) {
    texts.push({ name, text })
    if (/^\s*(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(text)) urls.push({ name, url: text })
  }
}

/** The private key with its public one, the public one, a message, the signature with the message. */
function addSigned([, secret, key, msg, signed = '']: RegExpExecArray, name: string, { ed25519 }: Corpora): void {
  const signature = signed.slice(0, 128)
  const [seed, publicKey, message, sig] = [secret?.slice(0, 64), key, msg, signature].map(hex)
  if (!seed || !publicKey || !message || !sig) return
  ed25519.push({ name, publicKey, message, signature: sig, isValid: true, seed })
}

function addForms([, columns = '']: RegExpExecArray, name: string, { texts }: Corpora): void {
  const forms = columns
    .slice(0, -1)
    .split(';')
    .map((points) => String.fromCodePoint(...points.split(' ').map((point) => Number.parseInt(point, 16))))
  for (const text of new Set(forms)) texts.push({ name, text })
}

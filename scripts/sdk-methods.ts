// The table of the SDK's methods, read off the functions that the clients bind: parameters, result, and the first
// sentence of the comment.

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

const CLIENT = 'packages/sdk/src/client.ts'

/** Every caller may abort. */
const LEFT_OUT = ['context', 'signal']

/** The methods of `createClient`, then those of `createAgentClient`, which has `call` and `open`, too. */
export function methodRows(): [method: string, meaning: string, result: string][] {
  const client = readFileSync(CLIENT, 'utf8')
  const both = ['call', 'open'].map((name) => [name, name] as const)
  const methods = [
    ...[...operations(client, 'gatewayOperations'), ...both].map((operation) => ['client', ...operation] as const),
    ...operations(client, 'agentOperations').map((operation) => ['agent', ...operation] as const),
  ]
  return methods.map(([owner, name, source]) => {
    const { parameters, meaning, result } = signature(client, source)
    return [`${owner}.${name}(${parameters.join(', ')})`, meaning, result]
  })
}

/** The name of each operation of a client, and what it is bound to: `quote: subscriptions.quote`. */
function operations(client: string, list: string): (readonly [name: string, source: string])[] {
  const body =
    new RegExp(`const ${list} = \\{\\n(.*?)\\n\\}`, 's').exec(client)?.[1] ?? fail(`${CLIENT} has no ${list}`)
  return [...body.matchAll(/^ {2}(\w+)(?:: ([\w.]+))?,$/gm)].map(([, name = '', source = name]) => [name, source])
}

function signature(client: string, source: string) {
  const name = source.split('.').at(-1) as string // of a non-empty text
  const file = importedFrom(client, source)
  const text = readFileSync(file, 'utf8')
  const pattern = new RegExp(
    `/\\*\\*((?:(?!\\*/).)*)\\*/\\nexport (?:async )?function\\*? ${name}\\b(?:<[^(]*>)?\\(`,
    's',
  )
  const found = pattern.exec(text) ?? fail(`${file}: ${name} has no comment, or is not an exported function`)
  const start = found.index + found[0].length
  const end = closing(text, start)
  const returned = /^: (.*?) \{\n/s.exec(text.slice(end + 1))?.[1] ?? fail(`${file}: ${name} declares no result`)
  return {
    parameters: split(text.slice(start, end)).flatMap(shownParameter),
    meaning: firstSentence(found[1] ?? ''),
    result: /^Promise<(.*)>$/s.exec(returned)?.[1] ?? returned,
  }
}

/** The file of an imported function, or of a function of an imported namespace. */
function importedFrom(client: string, source: string): string {
  const name = source.split('.')[0] as string // of a non-empty text
  const imports = [...client.matchAll(/^import (?:\* as (\w+)|\{([^}]*)\}) from '(\.[^']+)'/gm)]
  const found = imports.find(([, space, names = '']) => space === name || names.split(/[\s,]+/).includes(name))
  return posix.join(posix.dirname(CLIENT), found?.[3] ?? fail(`${CLIENT} does not import ${source}`))
}

/** `locker` for `{ locker_id }: Locker`, `options?` for `options: PutOptions = {}`; nothing for what is left out. */
function shownParameter(parameter: string): string[] {
  const [, pattern = '', type = ''] = /^((?:\.{3})?(?:\{.*?\}|\[.*?\]|\w+\??)): (.*)$/s.exec(parameter) ?? []
  const isOptional = pattern.endsWith('?') || pattern.startsWith('...') || / = \{\}$/.test(type)
  const plain = pattern.replace(/^\.{3}/, '').replace(/\?$/, '')
  const name = /^\w+$/.test(plain) ? plain : nameOfType(type)
  return LEFT_OUT.includes(name) ? [] : [isOptional ? `${name}?` : name]
}

function nameOfType(type: string): string {
  const [, word = ''] = /^(?:Pick<)?(\w+)/.exec(type) ?? []
  if (word === 'CallArguments') return 'input'
  return /Options$/.test(word) || word === '' ? 'options' : word.charAt(0).toLowerCase() + word.slice(1)
}

function firstSentence(comment: string): string {
  const text = comment.replaceAll(/\s*\n \*\s*/g, ' ').trim()
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text
}

/** Where the bracket closes that opened before `from`. */
function closing(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    if ('({['.includes(text.charAt(at))) depth++
    if (')}]'.includes(text.charAt(at)) && --depth === 0) return at
  }
  return fail('a bracket is not closed')
}

/** Splits at the commas outside of brackets. */
function split(parameters: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const char of parameters) {
    if ('({[<'.includes(char)) depth++
    if (')}]>'.includes(char)) depth--
    if (char === ',' && depth === 0) parts.push('')
    else parts.push(`${parts.pop()}${char}`)
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function fail(message: string): never {
  throw new Error(message)
}

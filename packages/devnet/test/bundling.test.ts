// @module-tag nightly

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bundle, bundleFolder } from '@svc/service/program/bundle'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startProcess } from '../src/start-process.ts'

// Always the same place: each program keeps its bundles.
const folder = new URL('./.bundled/', import.meta.url)
const bundling = new URL('../src/bundling/bundle-programs.ts', import.meta.url).href
const bundle = import.meta.resolve('@svc/service/program/bundle')

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    new URL('program.ts', folder),
    "import { part } from './part.ts'\nconsole.log(part(), import.meta.url)\n\nconsole.log(new Error('here').stack)\n",
  )
  writeFileSync(
    new URL('main.mjs', folder),
    `import { bundlePrograms } from ${JSON.stringify(bundling)}
import { importBundled } from ${JSON.stringify(bundle)}
const program = new URL('program.ts', import.meta.url)
if (process.argv[2] !== 'unbundled') bundlePrograms([program])
await importBundled(program)
`,
  )
})
afterAll(() => rmSync(folder, { recursive: true }))

function start(part: string): Promise<string> {
  writeFileSync(new URL('part.ts', folder), `export const part = (): string => ${JSON.stringify(part)}\n`)
  return startUnchanged()
}

async function startUnchanged(...args: string[]): Promise<string> {
  const { stdout, stderr } = await startProcess(new URL('main.mjs', folder), { args }).ended
  return stdout + stderr
}

it('a bundle is rebuilt when a source has changed', async () => {
  const program = new URL('program.ts', folder).href
  expect(await start('one')).toContain(`one ${program}\n`)
  expect(await start('second')).toContain(`second ${program}\n`)
})

it('a bundled program names its sources in stack traces', async () => {
  const printed = await start('one')
  expect(printed).toContain(`Error: here\n    at ${new URL('program.ts', folder).href}:4:`)
})

function newestBundle(): Bundle {
  const home = bundleFolder(fileURLToPath(new URL('program.ts', folder)))
  return JSON.parse(readFileSync(`${home}/newest.json`, 'utf8')) as Bundle
}

it('a bundle is rebuilt when it was removed', async () => {
  await start('one')
  rmSync(dirname(newestBundle().entry), { recursive: true })
  expect(await startUnchanged()).toContain('one ')
})

it('a program runs from its sources while its bundle is stale', async () => {
  await start('one')
  writeFileSync(new URL('part.ts', folder), "export const part = (): string => 'changed'\n")
  expect(await startUnchanged('unbundled')).toContain('changed ')
})

it('a bundle is fresh only while all of its inputs are unchanged', async () => {
  await start('one')
  const { inputs } = newestBundle()
  const files = [
    new URL('part.ts', folder),
    new URL('../src/bundling/make-bundle.ts', import.meta.url),
    new URL('../package.json', import.meta.url),
    new URL('../../../package.json', import.meta.url),
    new URL('../../../node_modules/.package-lock.json', import.meta.url),
  ]
  for (const file of files) expect(inputs).toHaveProperty([fileURLToPath(file)])
})

import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'

// Always the same place: each program keeps its bundles.
const folder = new URL('./.bundled/', import.meta.url)
const bundle = new URL('../src/bundle.ts', import.meta.url).href

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    new URL('program.ts', folder),
    "import { part } from './part.ts'\nconsole.log(part(), import.meta.url)\n\nconsole.log(new Error('here').stack)\n",
  )
  writeFileSync(
    new URL('main.mjs', folder),
    `import { importBundled } from ${JSON.stringify(bundle)}\nawait importBundled(new URL('program.ts', import.meta.url))\n`,
  )
})
afterAll(() => rmSync(folder, { recursive: true }))

function start(part: string): string {
  writeFileSync(new URL('part.ts', folder), `export const part = (): string => ${JSON.stringify(part)}\n`)
  const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('main.mjs', folder))], {
    encoding: 'utf8',
  })
  return stdout + stderr
}

it('a bundled program is made anew when one of its sources changed', () => {
  const program = new URL('program.ts', folder).href
  expect(start('one')).toContain(`one ${program}\n`)
  expect(start('second')).toContain(`second ${program}\n`)
})

it('a bundled program names its sources in stack traces', () => {
  const printed = start('one')
  expect(printed).toContain(`Error: here\n    at ${new URL('program.ts', folder).href}:4:`)
})

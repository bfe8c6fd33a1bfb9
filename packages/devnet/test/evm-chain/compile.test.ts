import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('compiling the contracts of the EVM test chain gives the committed bytecode', { tags: ['nightly'] }, () => {
  const script = new URL('../../src/evm-chain/contracts/compile.ts', import.meta.url).pathname
  const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' })
  expect(printed).toBe(readFileSync(new URL('../../src/evm-chain/contracts/compiled.json', import.meta.url), 'utf8'))
})

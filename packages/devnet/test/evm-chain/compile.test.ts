import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startProcess } from '../../src/start-process.ts'

test('compiling the contracts of the EVM test chain gives the committed bytecode', { tags: ['nightly'] }, async () => {
  const script = new URL('../../src/evm-chain/contracts/compile.ts', import.meta.url)
  const { stdout, stderr } = await startProcess(script).ended
  expect(stdout, stderr).toBe(
    readFileSync(new URL('../../src/evm-chain/contracts/compiled.json', import.meta.url), 'utf8'),
  )
})

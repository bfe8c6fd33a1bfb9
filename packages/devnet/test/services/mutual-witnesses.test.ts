import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Checkpoint, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey } from '@svc/protocol/transparency/note'
import { judge, type Policy, readPolicy } from '@svc/protocol/transparency/policy'
import { expect, it } from 'vitest'
import { startTestGateway } from '../../src/services/gateway.ts'
import { seedFiles, seedLocker } from '../../src/services/seed-lockers.ts'
import { seedStatement } from '../../src/services/seed-statements.ts'
import { startTestWitness } from '../../src/services/witness.ts'

const OWNER = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'
const NAMES = ['one', 'two'] as const

it('WIT-09 two gateways witness each other, each with the witness of the other admin', async () => {
  await using running = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'svc-mutual-'))
  running.defer(() => rm(folder, { recursive: true }))
  const operators = await Promise.all(
    NAMES.map(async (name) => {
      const witness = await startTestWitness([], { WITNESS_NAME: `witness.${name}.example` })
      running.defer(() => witness.stop())
      const line = `witness ${name} ${formatKey(witness.context.key)} ${witness.url}\nquorum ${name}\n`
      return { name, witness, line, policy: readPolicy(line) as Policy }
    }),
  )
  for (const [i, { name, witness, policy }] of operators.entries()) {
    const other = operators[1 - i]!
    const LOG_POLICY_FILE = join(folder, `${name}.txt`)
    await writeFile(LOG_POLICY_FILE, other.line)
    const gateway = await startTestGateway({ LOG_POLICY_FILE })
    running.defer(() => gateway.stop())
    const { vkey, url } = await (await fetch(`${gateway.url}/v1/log`)).json()
    await writeFile(other.witness.logsFile, `log ${vkey} ${url}\n`)

    const locker = await seedLocker(gateway.context, { owner: OWNER })
    await seedFiles(gateway.context, locker.locker_id, 1)
    await seedStatement(gateway.context, locker)
    // A witness that is slow to answer cosigns a later checkpoint.
    const published = async () => {
      await gateway.context.publishLog()
      return readCheckpoint(await (await fetch(`${gateway.url}/log/checkpoint`)).text()) as Checkpoint
    }
    await expect.poll(async () => judge(other.policy, await published()).isQuorum).toBe(true)
    const checkpoint = await published()
    expect(checkpoint.size).toBe(1)
    expect(judge(policy, checkpoint).isQuorum).toBe(false)
    expect(await (await fetch(other.witness.url)).text()).toContain('# size 1, cosigned')
    expect(witness.context.logs.keysOf(checkpoint.origin)).toEqual([])
  }
})

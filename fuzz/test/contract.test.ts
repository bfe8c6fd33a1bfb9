// A short form of what `npm run fuzz -- --only contract-gateway` does for longer; SVC_TEST_SEED makes other requests.

import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, inject, it } from 'vitest'
import { agentHouse } from '../src/contract/agent/house.ts'
import { gatewayHouse } from '../src/contract/gateway/house.ts'
import { openGatewayWorld } from '../src/contract/gateway/world.ts'
import { type ContractHouse, createRunner } from '../src/contract/run.ts'
import { s3House } from '../src/contract/s3/house.ts'

/** Requests with one thing wrong, for each operation. */
const WRONG = 2

describe('every operation, past its authentication', () => {
  const world = forAllTests(() => openGatewayWorld())

  async function findingsOf(house: ContractHouse): Promise<string[]> {
    const runner = createRunner(house)
    await runner.round(0, inject('propertySeed'), WRONG)
    return runner.result().findings.map(({ problem, input }) => `${problem}\n  ${input}`)
  }

  it('T-125 of the gateway answers as it is declared, succeeds, and changes nothing when it refuses', {
    tags: ['nightly'],
  }, async () => {
    expect(await findingsOf(gatewayHouse(world))).toEqual([])
  })

  it('T-125 of the agent service does, too', async () => {
    expect(await findingsOf(await agentHouse(world))).toEqual([])
  })

  it('T-125 of the S3 door answers with errors that its clients know, and changes nothing when it refuses', async () => {
    expect(await findingsOf(s3House(world))).toEqual([])
  })
})

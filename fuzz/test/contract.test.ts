// A short form of `npm run fuzz -- --only contract-gateway`; SVC_TEST_SEED changes the requests.

import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, inject, it } from 'vitest'
import { agentTarget } from '../src/contract/agent/target.ts'
import { openGatewayFixture } from '../src/contract/gateway/fixture.ts'
import { gatewayTarget } from '../src/contract/gateway/target.ts'
import { type ContractTarget, createRunner } from '../src/contract/run.ts'
import { s3Target } from '../src/contract/s3/target.ts'

/** The number of requests with one thing wrong, per operation. */
const WRONG = 2

describe('every operation, past its authentication', () => {
  const fixture = forAllTests(() => openGatewayFixture())

  async function findingsOf(instance: ContractTarget): Promise<string[]> {
    const runner = createRunner(instance)
    await runner.round(0, inject('propertySeed'), WRONG)
    return runner.result().findings.map(({ problem, input }) => `${problem}\n  ${input}`)
  }

  it('T-125 answers as declared at the gateway, succeeds, and changes nothing when it rejects a request', {
    tags: ['nightly'],
  }, async () => {
    expect(await findingsOf(gatewayTarget(fixture))).toEqual([])
  })

  it('T-125 answers as declared at the agent service, and changes nothing when it rejects a request', async () => {
    expect(await findingsOf(await agentTarget(fixture))).toEqual([])
  })

  it('T-125 answers at the S3 endpoint with errors that clients know, and changes nothing when it rejects a request', async () => {
    expect(await findingsOf(s3Target(fixture))).toEqual([])
  })
})

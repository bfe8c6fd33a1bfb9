import { createFreshDatabase } from '@svc/devnet/databases'
import { agentTarget } from './agent/target.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway/fixture.ts'
import { gatewayTarget } from './gateway/target.ts'
import { type ContractResult, type ContractTarget, createRunner } from './run.ts'
import { s3Target } from './s3/target.ts'

interface RunOptions {
  seconds: number
  /** The same seed creates the same cases. */
  seed: number
}

interface FuzzTarget {
  name: string
  run(options: RunOptions): Promise<ContractResult>
}

/** Every operation of a service, past its authentication, checked against the interface description. */
export const CONTRACT_TARGETS: FuzzTarget[] = [
  { name: 'contract-gateway', run: (options) => runOn('sqlite', gatewayTarget, options) },
  { name: 'contract-gateway-postgres', run: (options) => runOn('postgres', gatewayTarget, options) },
  { name: 'contract-agent', run: (options) => runOn('sqlite', agentTarget, options) },
  { name: 'contract-s3', run: (options) => runOn('sqlite', s3Target, options) },
]

const WRONG_EACH_ROUND = 10

async function runOn(
  dialect: 'sqlite' | 'postgres',
  targetOf: (fixture: GatewayFixture) => ContractTarget | Promise<ContractTarget>,
  { seconds, seed }: RunOptions,
): Promise<ContractResult> {
  const database = await createFreshDatabase(dialect)
  const fixture = await openGatewayFixture(database.url)
  try {
    const runner = createRunner(await targetOf(fixture))
    // From here on, so that a slow machine makes at least one round.
    const end = performance.now() + seconds * 1000
    for (let round = 0; performance.now() < end; round++) await runner.round(round, seed, WRONG_EACH_ROUND)
    return runner.result()
  } finally {
    await fixture.close()
    await database.drop()
  }
}

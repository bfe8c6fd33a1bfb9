import { createFreshDatabase } from '@svc/devnet/databases'
import { agentHouse } from './agent/house.ts'
import { gatewayHouse } from './gateway/house.ts'
import { type GatewayWorld, openGatewayWorld } from './gateway/world.ts'
import { type ContractHouse, type ContractResult, createRunner } from './run.ts'
import { s3House } from './s3/house.ts'

interface RunOptions {
  seconds: number
  /** The same seed makes the same cases. */
  seed: number
}

interface ContractTarget {
  name: string
  run(options: RunOptions): Promise<ContractResult>
}

/** Every operation of a service, past its authentication, checked against the interface description. */
export const CONTRACT_TARGETS: ContractTarget[] = [
  { name: 'contract-gateway', run: (options) => runOn('sqlite', gatewayHouse, options) },
  { name: 'contract-gateway-postgres', run: (options) => runOn('postgres', gatewayHouse, options) },
  { name: 'contract-agent', run: (options) => runOn('sqlite', agentHouse, options) },
  { name: 'contract-s3', run: (options) => runOn('sqlite', s3House, options) },
]

const WRONG_EACH_ROUND = 10

async function runOn(
  dialect: 'sqlite' | 'postgres',
  houseOf: (world: GatewayWorld) => ContractHouse | Promise<ContractHouse>,
  { seconds, seed }: RunOptions,
): Promise<ContractResult> {
  const end = performance.now() + seconds * 1000
  const database = await createFreshDatabase(dialect)
  const world = await openGatewayWorld(database.url)
  try {
    const runner = createRunner(await houseOf(world))
    for (let round = 0; performance.now() < end; round++) await runner.round(round, seed, WRONG_EACH_ROUND)
    return runner.result()
  } finally {
    await world.close()
    await database.drop()
  }
}

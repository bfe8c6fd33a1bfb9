// The whole service in development mode on this machine, without external services.

import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { startAgent } from '@svc/agent/agent'
import { readConfig as readAgentConfig } from '@svc/agent/config'
import { type Config, readConfig, type Secrets } from '@svc/gateway/config'
import { startGateway } from '@svc/gateway/gateway'
import { ConfigError, type Variables } from '@svc/service/program/config'
import { createLog } from '@svc/service/program/log'
import { startProcesses } from '@svc/service/program/processes'
import { type Running, runUntilStopped } from '@svc/service/program/run'
import { ensurePages } from '@svc/web/build'
import { DEV_PAYERS } from '../evm-chain/dev-accounts.ts'
import { startLocalChains } from '../local-chains.ts'
import { DEMO_PAYERS } from '../primary-chain/dev-accounts.ts'
import { type DevSettings, readDevSettings } from './dev-settings.ts'
import { setUpRegistries } from './local-registries.ts'
import { prepareWitness } from './own-witness.ts'

const portVariables = new Map<number, string>()

await runUntilStopped(async () => {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const variables: Variables = { HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...process.env, SVC_MODE: 'development' }
  const { dev } = readDevSettings(variables)
  const { config: settings } = readConfig(variables)
  for (const [name, port] of Object.entries(portsOf(settings, dev))) portVariables.set(port, name)
  await requirePorts(variables.HOST)
  const agentVariables = variablesOfAgent(variables, settings, dev)
  const { config: agentSettings } = readAgentConfig(agentVariables)
  const witness = prepareWitness(variables, { dataDir: settings.dataDir, port: dev.witnessPort })
  const stateFolder = `${settings.dataDir}/chains`
  mkdirSync(stateFolder, { recursive: true })
  const pagesReady = ensurePages(console.log)
  console.log('Starting the local chains…')
  const chains = await startLocalChains({
    primaryPort: dev.primaryRpcPort,
    primaryWebSocketPort: dev.primaryWebSocketPort,
    evmPort: dev.evmRpcPort,
    stateFolder,
    replayInBackground: true,
    landing: 'at once',
    ...(dev.registryProgram && { registryProgram: dev.registryProgram }),
  })
  chains.evm.chain.replayed.catch((error: Error) => {
    console.error(error.message)
    process.exit(1)
  })
  const registries = await setUpRegistries(chains, variables, stateFolder)
  const settled = {
    AGENT_URL: agentSettings.http.baseUrl,
    ...variables,
    LOG_POLICY_FILE: variables.LOG_POLICY_FILE || witness.policyFile,
    ...chains.variables,
    ...registries,
  }
  const { config, secrets } = readConfig(settled)
  const ofAgent = readAgentConfig({ ...agentVariables, ...chains.agentVariables })
  await pagesReady
  // The gateway asks the witness as soon as it starts.
  const stopWitness = await witness.start()
  const [gateway, agent] = await Promise.all([
    startGatewayProcesses(config, secrets, settled),
    startAgent(ofAgent.config, ofAgent.secrets),
  ])
  const { baseUrl } = config.http
  await witness.follow(gateway.url)
  console.log(`
svc storage gateway (development mode: local chains, worthless coins)

  gateway        ${baseUrl}
  web pages      ${baseUrl}/   (API: ${baseUrl}/docs)
  index          ${baseUrl}/.well-known/svc.json
  agent service  ${ofAgent.config.http.baseUrl}
  witness        ${witness.url}
  primary chain  ${chains.primary.url}   a funded payer: ${DEMO_PAYERS[0]?.address}
  EVM chain      ${chains.evm.url}   a funded payer: ${DEV_PAYERS[0]?.address}
  data           ${config.dataDir}

Try, in another terminal:

${firstCommands(variables, {
  SVC_GATEWAY: baseUrl,
  SVC_AGENT: ofAgent.config.http.baseUrl,
  SVC_PRIMARY_RPC: chains.primary.url,
  SVC_EVM_RPC: chains.evm.url,
})}

Stop: Ctrl-C
`)
  return {
    url: baseUrl,
    async stop() {
      await agent.stop()
      await gateway.stop()
      await stopWitness()
      await chains.stop()
    },
  }
}, portVariables)

function portsOf({ http }: Config, dev: DevSettings): Record<string, number> {
  return {
    PORT: http.port,
    AGENT_PORT: dev.agentPort,
    WITNESS_PORT: dev.witnessPort,
    DEV_PRIMARY_RPC_PORT: dev.primaryRpcPort,
    DEV_PRIMARY_WEBSOCKET_PORT: dev.primaryWebSocketPort,
    DEV_EVM_RPC_PORT: dev.evmRpcPort,
  }
}

/** Reports all ports in use together, as after a second `npm start`. A single one is reported by its own service. */
async function requirePorts(host: string | undefined): Promise<void> {
  const ports = await Promise.all(
    [...portVariables].map(async ([port, name]) => ((await isFree(port, host)) ? [] : [{ port, name }])),
  )
  const taken = ports.flat()
  if (taken.length > 1)
    throw new ConfigError(
      taken.map(({ port, name }) => `port ${port} is in use: stop what runs there, or choose another with ${name}`),
    )
}

function isFree(port: number, host: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'))
    server.listen({ port, host }, () => server.close(() => resolve(true)))
  })
}

/** Includes the addresses unless they are the defaults of `svc`. */
function firstCommands(variables: Variables, addresses: Readonly<Record<string, string>>): string {
  const moved = ['PORT', 'BASE_URL', 'AGENT_PORT', 'DEV_PRIMARY_RPC_PORT', 'DEV_EVM_RPC_PORT']
  const named = Object.entries(addresses).map(([name, address]) => `${name}=${address}`)
  const commands = [
    ...(moved.some((name) => variables[name]) ? [`export ${named.join(' ')}`] : []),
    'npx svc wallet new',
    'npx svc faucet',
    'npx svc buy --asset USDC --name first --yes',
  ]
  return commands.map((command) => `  ${command}`).join('\n')
}

function startGatewayProcesses(config: Config, secrets: Secrets, variables: Variables): Promise<Running> {
  const { processes: count, http: address } = config
  if (count === 1) return startGateway(config, secrets)
  const program = new URL(import.meta.resolve('@svc/gateway/bin/start'))
  return startProcesses({ program, count, address, variables, log: createLog(config.log.level) })
}

/** The agent service uses the gateway's settings, except those that each service must have for itself. */
function variablesOfAgent(variables: Variables, { dataDir, http }: Config, dev: DevSettings): Variables {
  const { BASE_URL, RATE_LIMITS, ...shared } = variables
  return {
    ...shared,
    PORT: String(dev.agentPort),
    DATA_DIR: `${dataDir}/agent`,
    DATABASE_URL: dev.agentDatabaseUrl,
    GATEWAY_URL: http.baseUrl,
  }
}

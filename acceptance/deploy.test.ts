// The files of deploy/: everything they name exists in our settings, in our metrics, on this disk or in the manual.
// Their own programs check them too (`npm run test:image`).

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, parseEnv } from 'node:util'
import { freePort } from '@svc/devnet/free-port'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { startTestWitness } from '@svc/devnet/services/witness'
import { startProcess, untilItAnswers } from '@svc/devnet/start-process'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'

const root = new URL('..', import.meta.url)
const deploy = new URL('deploy/', root)
const read = (path: string, base = deploy) => readFileSync(new URL(path, base), 'utf8')
const settingsOf = (file: string) => Object.keys(parseEnv(read(file, root)))
const SETTINGS = {
  gateway: settingsOf('.env.example'),
  agent: settingsOf('apps/agent/.env.example'),
  witness: settingsOf('apps/witness/.env.example'),
}
/** Whether a container or a unit reads the variable. A secret may be in a file, named by the variable with `_FILE`. */
const reads = (name: string, variable = '') =>
  SETTINGS[(['agent', 'witness'] as const).find((app) => name.includes(app)) ?? 'gateway'].some(
    (setting) => variable === setting || variable === `${setting}_FILE`,
  )
const GATEWAY_PROGRAM = fileURLToPath(new URL('apps/gateway/bin/svc-gateway.mjs', root))
const PORTS: Record<string, string> = { agent: '8403', witness: '8404' }

interface ComposeService {
  image?: string
  command?: string[]
  environment?: Record<string, string>
  env_file?: { path: string; required: boolean }[]
  volumes?: string[]
  secrets?: string[]
  networks: string[]
  depends_on?: Record<string, unknown>
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  ports?: string[]
}

describe('ADD-34 the compose file', () => {
  const text = read('compose.yaml')
  const compose = parse(text, { merge: true }) as Record<'services' | 'secrets' | 'volumes' | 'networks', object> & {
    services: Record<string, ComposeService>
  }
  const services = Object.entries(compose.services)
  const ours = services.filter(([, { image }]) => image?.includes('SVC_IMAGE'))

  it('runs two gateways, the agent service, a witness and everything they need', () => {
    expect(Object.keys(compose.services)).toEqual(
      expect.arrayContaining([
        'gateway-1',
        'gateway-2',
        'agent',
        'witness',
        'proxy',
        'postgres',
        'minio',
        'prometheus',
        'grafana',
      ]),
    )
    expect(ours.map(([name]) => name)).toEqual(['gateway-1', 'gateway-2', 'agent', 'witness'])
  })

  it('sets only variables that our services read, and .env.example has every variable that it uses', () => {
    for (const [name, { environment = {} }] of ours) {
      for (const variable of Object.keys(environment)) expect(reads(name, variable), `${name} ${variable}`).toBe(true)
    }
    const taken = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, variable]) => variable))
    expect(Object.keys(parseEnv(read('.env.example'))).toSorted()).toEqual([...taken].toSorted())
  })

  it('CFG-01 passes every setting: those that the file does not set are in the env file of their service', () => {
    for (const [name, { environment = {}, env_file }] of ours) {
      const file = name.startsWith('gateway') ? 'gateway' : name
      expect(env_file, name).toEqual([{ path: `${file}.env`, required: false }])
      // An empty value would replace that of the env file.
      const optional = Object.entries(environment).filter(([, value]) => /^\$\{\w+(:?-)?\}$/.test(value))
      expect(optional, name).toEqual([])
    }
  })

  it('CFG-02 sets everything that the gateway needs to start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-compose-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const given: Record<string, string> = {
      BASE_URL: 'https://gateway.example',
      AGENT_URL: 'https://agent.example',
      PRIMARY_RPC_URLS: 'https://node.example',
      PRIMARY_TREASURY: toBase58(ed25519Signer(new Uint8Array(32).fill(9)).publicKey),
      POSTGRES_PASSWORD: 'secret',
      MINIO_PASSWORD: 'secret',
      INTERNAL_SECRET: 'at-least-twenty-four-characters',
    }
    const { environment = {} } = compose.services['gateway-1'] as ComposeService
    const lines = Object.entries(environment).map(([name, value], i) => {
      const filled = value.replace(
        /\$\{(\w+)(?::-([^}]*)|[^}]*)\}/g,
        (_, word, fallback) => given[word] ?? fallback ?? '',
      )
      return name.endsWith('_KEY_FILE') ? `${name.slice(0, -5)}=${String(i).padStart(64, '0')}` : `${name}=${filled}`
    })
    writeFileSync(join(folder, 'gateway.env'), `${lines.join('\n')}\nDATA_DIR=${folder}/data\n`)
    const { code, stdout } = await startProcess(GATEWAY_PROGRAM, { args: ['check', 'gateway.env'], cwd: folder }).ended
    expect(code, stdout).toBe(0)
  })

  it('names files, volumes, secrets, networks and services that exist', () => {
    for (const [name, { volumes = [], secrets = [], networks, depends_on = {} }] of services) {
      for (const [source = ''] of volumes.map((volume) => volume.split(':'))) {
        if (source.startsWith('.')) expect(existsSync(new URL(source, deploy)), `${name} ${source}`).toBe(true)
        else expect(compose.volumes, name).toHaveProperty(source)
      }
      for (const secret of secrets) expect(compose.secrets, name).toHaveProperty(secret)
      for (const network of networks) expect(compose.networks, name).toHaveProperty(network)
      for (const other of Object.keys(depends_on)) expect(compose.services, name).toHaveProperty(other)
    }
    for (const [, { command }] of ours)
      if (command) expect(existsSync(new URL(command[0] as string, root)), command[0]).toBe(true)
  })

  it('gives our services no privileges, and exposes only the proxy', () => {
    for (const [name, service] of ours) {
      expect(service, name).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
      expect(service.ports, name).toBeUndefined()
    }
    const open = services.filter(([, { ports = [] }]) => ports.some((port) => !port.startsWith('127.0.0.1:')))
    expect(open.map(([name]) => name)).toEqual(['proxy'])
    const proxy = read('compose/nginx.conf')
    for (const [, host, port] of proxy.matchAll(/server ([\w-]+):(\d+)/g)) {
      expect(Object.keys(compose.services)).toContain(host)
      expect(port).toBe(PORTS[host as string] ?? '8402')
    }
  })
})

describe('ADD-34 the systemd units', () => {
  const units = readdirSync(new URL('systemd/', deploy))
    .filter((name) => name.endsWith('.service'))
    .map((name) => [name, read(`systemd/${name}`)] as const)

  it.each(units)('%s starts our program, sets variables that it reads, and has no privileges', (name, text) => {
    const program = /^ExecStart=\/usr\/bin\/node \/opt\/svc\/(\S+)/m.exec(text)?.[1] as string
    expect(existsSync(new URL(program, root)), program).toBe(true)
    for (const [, line = ''] of text.matchAll(/^Environment=(.*)$/gm))
      for (const variable of line.split(' ').map((entry) => entry.split('=')[0]))
        expect(reads(name, variable), variable).toBe(true)
    for (const [, credential] of text.matchAll(/%d\/(\S+)/g)) expect(text).toContain(`LoadCredential=${credential}:`)
    for (const line of ['DynamicUser=yes', 'ProtectSystem=strict', 'NoNewPrivileges=yes', 'CapabilityBoundingSet='])
      expect(text.split('\n')).toContain(line)
    // A process ends at most 30 seconds after its stop signal.
    if (!text.includes('Type=oneshot')) expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(30)
  })
})

it('ADD-61 the timer of the backup starts its unit every day', () => {
  const timer = read('systemd/svc-backup.timer')
  expect(timer.split('\n')).toEqual(expect.arrayContaining(['OnCalendar=daily', 'Persistent=true']))
  expect(existsSync(new URL('systemd/svc-backup.service', deploy))).toBe(true)
})

describe("ADD-34 the files of the admin's guide on a host with systemd", () => {
  let folder: string
  let chains: LocalChains
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-host-'))
    chains = await startLocalChains()
    followGuide(folder)
    for (const path of ['etc/svc', 'var/lib/svc-gateway']) mkdirSync(join(folder, path), { recursive: true })
    cpSync(join(folder, 'my-gateway/keys'), join(folder, 'etc/svc/keys'), { recursive: true })
    cpSync(join(folder, 'my-gateway/gateway.env'), join(folder, 'etc/svc/gateway.env'))
  })
  afterAll(async () => {
    await chains.stop()
    rmSync(folder, { recursive: true })
  })

  /** Starts a program below the folder as systemd does, with the chains and the port of the test. */
  function startAs(
    { unit, program, variables, environmentFile, credentials, workingDirectory }: Service,
    port: string,
  ) {
    const here = (path: string) =>
      path
        .replaceAll('%d', `/run/credentials/${unit}`)
        .replace(/^\/usr\/bin\/node$/, process.execPath)
        .replace(/^\/opt\/svc\//, fileURLToPath(root))
        .replace(/^(?=\/(?:etc\/svc|run\/credentials|var\/lib)\/)/, folder)
    mkdirSync(here(`/run/credentials/${unit}`), { recursive: true })
    for (const [name = '', path = ''] of credentials.map((credential) => credential.split(':')))
      cpSync(here(path), here(`%d/${name}`))
    const [command = '', ...args] = program
    const env = {
      ...Object.fromEntries(variables.map((line) => [line.split('=')[0], here(line.slice(line.indexOf('=') + 1))])),
      // The environment file overrides the unit.
      ...parseEnv(readFileSync(here(environmentFile), 'utf8')),
      PRIMARY_RPC_URLS: chains.primary.url,
      ORACLE_URL: chains.rates.url,
      PORT: port,
    }
    return startProcess(here(command), { args: args.map(here), cwd: here(workingDirectory), env })
  }

  it('ADD-61 start the gateway, and its commands and the backup beside it', { tags: ['nightly'] }, async () => {
    const port = String(await freePort())
    const gateway = startAs(serviceOf('svc-gateway.service', read('systemd/svc-gateway.service')), port)
    await untilItAnswers(`http://127.0.0.1:${port}/health/ready`, gateway)
    const { keys } = (await (await fetch(`http://127.0.0.1:${port}/v1/keys`)).json()) as { keys: { key_id: string }[] }

    const { stdout, stderr } = await startAs(commandOf('systemd/svc-gateway', ['keys', 'list']), port).ended
    expect(stdout, stderr).toContain(keys[0]?.key_id)

    const backup = await startAs(serviceOf('svc-backup.service', read('systemd/svc-backup.service')), port).ended
    expect(backup.code, backup.stderr).toBe(0)
    expect(readdirSync(join(folder, 'var/lib/svc-backup'))).toEqual([expect.stringMatching(/^gateway-.*\.db$/)])

    expect(await gateway.kill('SIGTERM')).toMatchObject({ code: 0 })
    // The gateway uses the keys of the guide: it has created no others.
    expect(readdirSync(join(folder, 'var/lib/svc-gateway'))).not.toContain('log.key')
  })
})

interface Service {
  unit: string
  program: string[]
  /** Each is `NAME=value`. */
  variables: string[]
  environmentFile: string
  /** Each is `name:path`. */
  credentials: string[]
  workingDirectory: string
}

/** Runs the first two steps of the guide, with a treasury whose key does not exist. */
function followGuide(folder: string): void {
  const guide = read('docs/start/admin.md', root)
  const steps = [...guide.matchAll(/^```bash\n(.*?)^```$/gms)].slice(0, 2).map(([, code]) => code)
  const address = toBase58(ed25519Signer(new Uint8Array(32).fill(9)).publicKey)
  const npx = `npx() {
    if [ "$1" = svc-gateway ]; then shift; "${process.execPath}" "${GATEWAY_PROGRAM}" "$@"; else echo '{"address":"${address}"}'; fi
  }`
  execFileSync('bash', ['-euc', `${npx}\n${steps.join('')}`], { cwd: folder, stdio: 'pipe' })
}

function serviceOf(unit: string, text: string): Service {
  const all = (key: string) => [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value as string)
  return {
    unit,
    program: (all('ExecStart')[0] as string).split(' '),
    variables: all('Environment').flatMap((line) => line.split(' ')),
    environmentFile: all('EnvironmentFile')[0] as string,
    credentials: all('LoadCredential'),
    workingDirectory: all('WorkingDirectory')[0] as string,
  }
}

/** The unit that the script starts with systemd-run. */
function commandOf(script: string, args: string[]): Service {
  const printing = `systemd-run() { printf '%s\\n' "$@"; }; exec() { "$@"; }; . "$0"`
  const given = execFileSync('bash', ['-c', printing, fileURLToPath(new URL(script, deploy)), ...args], {
    encoding: 'utf8',
  })
  const options = parseArgs({
    args: given.trimEnd().split('\n'),
    options: {
      quiet: { type: 'boolean' },
      pipe: { type: 'boolean' },
      wait: { type: 'boolean' },
      collect: { type: 'boolean' },
      unit: { type: 'string', default: '' },
      property: { type: 'string', short: 'p', multiple: true, default: [] },
      setenv: { type: 'string', short: 'E', multiple: true, default: [] },
    },
    allowPositionals: true,
  })
  const { unit, property, setenv } = options.values
  const program = `ExecStart=${options.positionals.join(' ')}`
  return serviceOf(unit, [program, ...property, ...setenv.map((line) => `Environment=${line}`)].join('\n'))
}

describe('ADD-35 alerts and dashboard', () => {
  interface Rule {
    alert: string
    expr: string
    labels: { severity: string }
    annotations: { summary: string; runbook: string }
  }
  const rules: Rule[] = parse(read('prometheus/alerts.yml')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
  const dashboard = JSON.parse(read('grafana/svc.json')) as { panels: { id: number; targets?: { expr: string }[] }[] }
  const panels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  let metrics: string
  const stops: (() => Promise<void>)[] = []
  beforeAll(async () => {
    const chains = await startLocalChains()
    const gateway = await startTestGateway(chains.variables)
    const witness = await startTestWitness([])
    stops.push(gateway.stop, chains.stop, witness.stop)
    const ofWitness = await (await fetch(`${witness.url}/metrics`)).text()
    await fetch(`${gateway.url}/v1/keys`)
    // The balance of the publication key is read from the chain in the background.
    await vi.waitFor(
      async () => {
        metrics = ofWitness + (await (await fetch(`${gateway.url}/metrics`)).text())
        expect(metrics).toContain('svc_publication_balance_lamports')
      },
      { timeout: 100_000, interval: 250 },
    )
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  /** Families that a gateway and a witness announce, with or without samples. */
  const families = () =>
    [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    )
  const named = (expr: string) => expr.match(/\b(?:svc|process|nodejs)_\w+/g) ?? []

  it('T-12 use only metrics of ours', () => {
    const known = families()
    const used = [...rules.map(({ expr }) => expr), ...panels].flatMap(named)
    expect(used.length).toBeGreaterThan(30)
    expect(used.filter((name) => !known.includes(name))).toEqual([])
  })

  it('LOG-28 have a heading in the manual and a test for every alert', () => {
    const manual = read('docs/operations.md', root)
    const tests = read('prometheus/alerts.test.yml')
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`)
      expect(manual.split('\n'), alert).toContain(`### ${alert}`)
      expect(tests.split(`alertname: ${alert}\n`), alert).toHaveLength(3)
    }
    const inManual = [...manual.matchAll(/^### (Svc\w+)$/gm)].map(([, name]) => name)
    expect(inManual.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })

  it('PAY-28 report a coin without a price, and only inform about one with a configured price', () => {
    const selling = rules.filter(({ expr }) => expr.includes('svc_price_up'))
    expect(selling.map(({ expr, labels }) => [/state="(\w+)"/.exec(expr)?.[1], labels.severity])).toEqual([
      ['missing', 'ticket'],
      ['configured', 'info'],
    ])
  })

  it('have a unique id for every panel', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })
})

it('ADD-34 the image runs the production tree as the user nobody', () => {
  const dockerfile = read('Dockerfile')
  const [, program = ''] = /^CMD \["([^"]+)"/m.exec(dockerfile) ?? []
  expect(existsSync(new URL(program, root)), program).toBe(true)
  expect(dockerfile).toMatch(/^USER 65532:65532$/m)
  expect(dockerfile).toMatch(/^HEALTHCHECK .* CMD \["node", .*\/health\/live/m)
  expect(read('.dockerignore', root).split('\n')).toEqual(expect.arrayContaining(['.env', '**/node_modules', '.git']))
})

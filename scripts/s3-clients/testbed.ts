// A gateway with its S3 endpoint at `/s3` over plain HTTP, and at its own host behind TLS.

import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createServer } from 'node:tls'
import { NAME_TAG } from '@svc/api/locker-names'
import type { NewS3Key, NewWalletS3Key } from '@svc/api/s3-credentials'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { ed25519Identity, type SignedCall, signCall } from '@svc/devnet/services/signing'

const HOST = 'localhost'

interface S3Endpoint {
  name: string
  endpoint: string
}

/** A locker with a key, an endpoint to reach it, and a folder of files to store. */
export interface ClientSetup {
  endpoint: string
  bucket: string
  accessKeyId: string
  secret: string
  /** The file of the authority that signed the endpoint's certificate. */
  caFile: string
  /** A folder for the client, beside `files`. */
  folder: string
  files: string
  run: Run
  /** The same client with a key for all lockers of the owner, where buckets have the names of lockers. */
  wallet: { accessKeyId: string; secret: string; name: string; run: Run; revoke(): Promise<void> }
}

/** Runs a program to its end and returns what it prints. Throws unless it succeeds. */
type Run = (command: string, ...args: string[]) => Promise<string>

export async function openTestbed() {
  const root = mkdtempSync(join(tmpdir(), 'svc-s3-clients-'))
  const gateway = await startTestGateway({ S3: `on,host=${HOST}` })
  const caFile = makeCertificate(root)
  const tls = await startTls(caFile, Number(new URL(gateway.url).port))
  let lockers = 0

  async function locker({ endpoint }: S3Endpoint): Promise<ClientSetup> {
    const owner = ed25519Identity()
    const name = 'photos'
    const { locker_id, receipt_id } = await seedLocker(gateway.context, {
      owner: owner.identity,
      tags: [NAME_TAG + name],
    })
    await seedLocker(gateway.context, { owner: owner.identity })

    async function ask<Body>(method: string, path: string, about: Partial<SignedCall>): Promise<Body> {
      const { headers, body } = signCall(owner, { method, path, ops: ['locker:admin'], ...about }, Date.now())
      const json = { 'content-type': 'application/json' }
      const init = { method, headers: { ...headers, ...(body && json) }, ...(body && { body: Buffer.from(body) }) }
      const response = await fetch(gateway.url + path, init)
      if (!response.ok) throw new Error(await response.text())
      return (await response.json()) as Body
    }
    const body = { name: 'client', access: 'write', expires_in_days: 1 }
    const ofLocker = { lockerId: locker_id, receiptId: receipt_id, body }
    const key = await ask<NewS3Key>('POST', `/v1/lockers/${locker_id}/s3/keys`, ofLocker)
    const query = `?wallet=${owner.identity}`
    const envelope = { aud: gateway.context.config.http.baseUrl }
    const ofAll = await ask<NewWalletS3Key>('POST', `/v1/s3/keys${query}`, { envelope, body })

    const folder = join(root, String(lockers++))
    const files = join(folder, 'files')
    writeFiles(files)
    const given = { accessKeyId: key.access_key_id, secret: key.secret_access_key }
    const givenAll = { accessKeyId: ofAll.access_key_id, secret: ofAll.secret_access_key }
    const at = { caFile, folder }
    return {
      ...given,
      ...at,
      endpoint,
      bucket: locker_id,
      files,
      run: runner({ ...given, ...at }),
      wallet: {
        ...givenAll,
        name,
        run: runner({ ...givenAll, ...at }),
        revoke: () => ask('DELETE', `/v1/s3/keys/${ofAll.access_key_id}${query}`, { envelope }),
      },
    }
  }

  return {
    plain: { name: 'HTTP at /s3', endpoint: `${gateway.url}/s3` },
    hosted: { name: 'TLS at its own host', endpoint: `https://${HOST}:${tls.port}` },
    locker,
    async close() {
      await tls.close()
      await gateway.stop()
      rmSync(root, { recursive: true })
    },
  }
}

function makeCertificate(folder: string): string {
  const file = join(folder, 'certificate.pem')
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST},DNS:*.${HOST}`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${file}.key`]
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, '-out', file, ...subject], { stdio: 'ignore' })
  return file
}

/** Forwards all bytes unchanged, so that the Host header stays the signed one. */
async function startTls(caFile: string, gatewayPort: number) {
  const server = createServer({ cert: readFileSync(caFile), key: readFileSync(`${caFile}.key`) }, (client) => {
    const gateway = connect(gatewayPort, '127.0.0.1')
    client.on('error', () => gateway.destroy()).on('close', () => gateway.destroy())
    gateway.on('error', () => client.destroy())
    client.pipe(gateway).pipe(client)
  })
  server.listen(0)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}

/** Writes files that are small, empty, nested, long enough for several parts, or have names that need encoding. */
function writeFiles(folder: string): void {
  const files = {
    'small.txt': 'hello',
    empty: '',
    'sub/deep/medium.bin': randomBytes(300_000),
    'sub/a+b & ümlaut %25.txt': 'encoded',
    'large.bin': randomBytes(20 * 1_048_576 + 17),
  }
  for (const [name, bytes] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }
}

/** Runs programs without the user's settings, and asynchronously, because this thread serves the gateway. */
function runner({
  accessKeyId,
  secret,
  caFile,
  folder,
}: Pick<ClientSetup, 'accessKeyId' | 'secret' | 'caFile' | 'folder'>): Run {
  // Without this file, aws 1 and boto3 sign URLs for this region with version 2.
  const awsConfig = join(folder, 'aws-config')
  writeFileSync(awsConfig, `[default]\nca_bundle = ${caFile}\ns3 =\n  signature_version = s3v4\n`)
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    LANG: 'C.UTF-8',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_CONFIG_FILE: awsConfig,
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  return async (command, ...args) => {
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    if (code === 0) return stdout
    throw new Error(`${command} ${args.join(' ')}: ${stdout}\n${stderr}`.trim())
  }
}

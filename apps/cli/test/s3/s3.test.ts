import type { NewS3Key, S3Credentials, S3Key, WalletS3Credentials } from '@svc/sdk'
import { describe, expect, it } from 'vitest'
import { shellWord } from '../../src/output/shell-word.ts'
import { keySetup } from '../../src/s3/setup.ts'
import { jsonDocument, jsonLines } from '../host.ts'
import { useLockerHome } from '../locker.ts'

const home = useLockerHome()
const svc = (...args: string[]) => home.ok('s3', ...args)
const endpoint = () => `${home.testbed.gateway.context.config.http.baseUrl}/s3`

describe('svc s3 credentials', () => {
  it('ADD-42 answer credential_process of aws with one document and nothing else', async () => {
    const { stdout } = await svc('credentials', '--format', 'process')
    expect(jsonDocument(stdout)).toEqual({
      Version: 1,
      AccessKeyId: expect.stringMatching(/^SVCS[A-Z2-7]{16}$/),
      SecretAccessKey: expect.stringMatching(/^[A-Za-z0-9_-]{40}$/),
      SessionToken: expect.any(String),
      Expiration: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    })
  })

  it('ADD-42 allow writing by default, within the given folder', async () => {
    const given = async (...args: string[]) =>
      jsonDocument<S3Credentials>((await svc('credentials', '--format', 'json', ...args)).stdout)
    expect(await given()).toMatchObject({ access: 'write', prefix: '', endpoint: endpoint() })
    expect(await given('--read-only', '--prefix', 'photos')).toMatchObject({ access: 'read', prefix: 'photos/' })
    const { expires_at } = await given('--ttl', '1')
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(home.testbed.gateway.context.now() + 60_000)
    expect(jsonDocument((await svc('credentials', '--json')).stdout)).toHaveProperty('secret_access_key')
  })

  it('ADD-42 are variables for a shell', async () => {
    const { stdout } = await svc('credentials', '--format', 'env')
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^export AWS_ACCESS_KEY_ID=SVCS[A-Z2-7]{16}$/),
      expect.stringMatching(/^export AWS_SECRET_ACCESS_KEY=[\w-]{40}$/),
      expect.stringMatching(/^export AWS_SESSION_TOKEN=[\w-]+$/),
      `export AWS_ENDPOINT_URL_S3=${endpoint()}`,
      'export AWS_REGION=us-east-1',
      'export AWS_DEFAULT_REGION=us-east-1',
    ])
  })

  it('T-95 ADD-42 show how to set up clients, and no secret, unless a format is named', async () => {
    const { stdout, stderr } = await svc('credentials', '--prefix', "it's/")
    expect(stdout).not.toMatch(/SVCS|SessionToken/)
    expect(stderr).toBe('')
    expect(stdout).toMatch(
      /^credential_process = svc s3 credentials --gateway \S+ --locker locker_\w+ .*--format process$/m,
    )
    expect(stdout).toContain(`--prefix 'it'\\''s/'`)
    expect(stdout).toContain(`endpoint_url = ${endpoint()}`)
    // Older releases of both read the endpoint from neither a profile nor a variable.
    const named = [
      `aws --profile svc --endpoint-url ${endpoint()} s3 ls`,
      `.client('s3', endpoint_url="${endpoint()}")`,
    ]
    for (const client of [...named, 'rclone ls', 'restic', 's3fs']) expect(stdout).toContain(client)
  })

  it('ADD-42 open all lockers of the wallet with --all', async () => {
    const { stdout } = await svc('credentials', '--all')
    expect(stdout).toMatch(/^credential_process = svc s3 credentials --gateway \S+ --all .*--format process$/m)
    expect(stdout).toContain('svc s3 keys new NAME --all')
    const given = jsonDocument<WalletS3Credentials>((await svc('credentials', '--all', '--format', 'json')).stdout)
    expect(given).toMatchObject({ access: 'write', endpoint: endpoint() })
    expect(given).not.toHaveProperty('bucket')
  })

  it.each([
    ['more than an hour', ['--ttl', '61']],
    ['no time', ['--ttl', '0']],
    ['another format', ['--format', 'xml']],
  ])('ADD-42 %s is wrong usage', async (_, args) => {
    expect(await home.svc(['s3', 'credentials', ...args])).toMatchObject({ exitCode: 2, stdout: '' })
  })
})

describe('svc s3 keys', () => {
  it('ADD-42 are made, listed without their secrets, and revoked', async () => {
    const locker = ['-l', (await home.testbed.locker(home.signer)).receipt_id]
    const keys = (...args: string[]) => svc('keys', ...args, ...locker)
    const made = await keys('new', 'backup', '--prefix', 'b', '--days', '7')
    const [id] = /SVCK[A-Z2-7]{16}/.exec(made.stdout) as RegExpExecArray
    const [, secret] = /secret access key +(\S{40})$/m.exec(made.stdout) as RegExpExecArray
    expect(made.stderr).toContain('not be shown again')
    expect(made.stderr).toContain('restic, s3fs and mc need an endpoint without a path')
    const place = { endpoint: 'https://s3.example', region: 'us-east-1', bucket: 'locker_0', prefix: 'b/' }
    expect(keySetup({ access_key_id: id, ...place } as NewS3Key)).toContain(
      's3fs locker_0:/b MOUNTPOINT -o url=https://s3.example ',
    )
    const named = [`aws --endpoint-url ${endpoint()} s3 ls`, `boto3.client('s3', endpoint_url="${endpoint()}")`]
    for (const client of named) expect(made.stderr).toContain(client)
    expect(made.stderr).not.toContain(secret as string)
    const { stdout } = await keys()
    expect(stdout).toMatch(new RegExp(`^${id} +backup +write +b/ +`, 'm'))
    expect(stdout).not.toContain(secret as string)
    expect(jsonLines<S3Key>((await keys('list', '--json')).stdout)).toMatchObject([{ name: 'backup' }])
    await keys('revoke', id)
    expect((await keys()).stderr).toContain('No keys yet')
    expect(await home.svc(['s3', 'keys', 'revoke', id, ...locker])).toMatchObject({ exitCode: 1 })
    const read = jsonDocument<NewS3Key>((await keys('new', 'reader', '--read-only', '--json')).stdout)
    expect(read).toMatchObject({ access: 'read', prefix: '' })
  })

  it('ADD-42 are made, listed and revoked for all lockers of the wallet', async () => {
    const made = await svc('keys', 'new', 'mount', '--all')
    const [id] = /SVCK[A-Z2-7]{16}/.exec(made.stdout) as RegExpExecArray
    expect(made.stdout).toContain('each locker that the wallet owns')
    expect(made.stderr).toMatch(new RegExp(`aws --endpoint-url ${endpoint()} s3 ls$`, 'm'))
    expect(made.stderr).toContain('.list_buckets()')
    expect(made.stderr).toMatch(/rclone lsd '.*":'$/m)
    expect((await svc('keys', '--all')).stdout).toMatch(new RegExp(`^${id} +mount +write +- +`, 'm'))
    expect((await svc('keys', 'list', '--all')).stdout).toContain(id)
    expect((await svc('keys')).stdout).not.toContain(id)
    expect(await home.svc(['s3', 'keys', 'revoke', id])).toMatchObject({ exitCode: 1 })
    await svc('keys', 'revoke', id, '--all')
    expect((await svc('keys', '--all')).stderr).toContain('svc s3 keys new NAME --all')
    expect(await home.svc(['s3', 'keys', 'new', 'x', '--all', '--prefix', 'a'])).toMatchObject({ exitCode: 2 })
  })

  it('T-95 a name that would control the terminal is shown escaped', async () => {
    await svc('keys', 'new', '\u001b[2Jboo')
    expect((await svc('keys')).stdout).not.toContain('\u001b')
  })
})

it('T-95 shellWord quotes any text as one shell word', () => {
  expect(shellWord('https://a.example:1/s3')).toBe('https://a.example:1/s3')
  expect(shellWord('a b')).toBe("'a b'")
  expect(shellWord("'; reboot #")).toBe(`''\\''; reboot #'`)
  expect(shellWord('')).toBe("''")
})

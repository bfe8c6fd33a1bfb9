// Drives each client with a locker. Every client stores, lists, reads in full and in part, copies, synchronizes and
// deletes, also files of several parts, and compares the bytes.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Program } from './programs.ts'
import type { ClientSetup } from './testbed.ts'

interface Client extends Program {
  /** Set if it does not support an endpoint with a path. */
  needsHost?: true
  /** Why it cannot run here although it is installed; null when it can. */
  obstacle?: () => string | null
  drive(setup: ClientSetup): Promise<void>
}

export const CLIENTS: readonly Client[] = [
  { name: 'aws', package: 'awscli', version: ['aws', '--version'], drive: driveAws },
  {
    name: 'boto3',
    package: 'python3-boto3',
    version: ['python3', '-c', 'import boto3; print(boto3.__version__)'],
    drive: driveBoto3,
  },
  { name: 'rclone', package: 'rclone', version: ['rclone', 'version'], drive: driveRclone },
  { name: 's3cmd', package: 's3cmd', version: ['s3cmd', '--version'], needsHost: true, drive: driveS3cmd },
  { name: 'restic', package: 'restic', version: ['restic', 'version'], needsHost: true, drive: driveRestic },
  {
    name: 's3fs',
    package: 's3fs',
    version: ['s3fs', '--version'],
    needsHost: true,
    obstacle: noFuse,
    drive: driveS3fs,
  },
  // Neither Debian nor npm has it, so it is tested only where it is already installed.
  { name: 'mc', package: 'minio-client', version: ['mc', '--version'], needsHost: true, drive: driveMc },
]

async function driveAws({ endpoint, bucket, files, folder, caFile, run, wallet }: ClientSetup): Promise<void> {
  const s3 = `s3://${bucket}`
  const aws = (...args: string[]) => run('aws', '--endpoint-url', endpoint, ...args)
  await aws('s3', 'sync', files, `${s3}/a`)
  assert.equal(await aws('s3', 'sync', files, `${s3}/a`), '', 'a second sync sends nothing')
  await aws('s3', 'sync', `${s3}/a`, join(folder, 'back'))
  await requireSame(run, files, join(folder, 'back'))
  await aws('s3', 'cp', '--recursive', `${s3}/a`, `${s3}/b`)
  await aws('s3', 'mv', `${s3}/b/large.bin`, `${s3}/b/moved.bin`)
  await aws('s3', 'cp', `${s3}/b/moved.bin`, 'moved.bin')
  await requireSame(run, join(files, 'large.bin'), join(folder, 'moved.bin'))
  const key = ['--bucket', bucket, '--key', 'a/small.txt']
  await aws('s3api', 'get-object', ...key, '--range', 'bytes=1-3', 'part.txt')
  assert.equal(readFileSync(join(folder, 'part.txt'), 'utf8'), 'ell')
  const url = (await aws('s3', 'presign', `${s3}/a/small.txt`)).trim()
  await run('curl', '-fsS', '--cacert', caFile, '-o', 'signed.txt', url)
  assert.equal(readFileSync(join(folder, 'signed.txt'), 'utf8'), 'hello')
  await aws('s3', 'rm', '--recursive', s3)
  assert.equal(await aws('s3', 'ls', '--recursive', s3), '')

  const all = (...args: string[]) => wallet.run('aws', '--endpoint-url', endpoint, 's3', ...args)
  assert.match(await all('ls'), new RegExp(` locker_\\w+\\n.* ${wallet.name}\\n$`), 'lists all lockers, by name')
  await all('cp', join(files, 'large.bin'), `s3://${wallet.name}/large.bin`)
  await all('cp', `s3://${wallet.name}/large.bin`, 'by-name.bin')
  await requireSame(run, join(files, 'large.bin'), join(folder, 'by-name.bin'))
  await aws('s3', 'rm', `${s3}/large.bin`)
  await wallet.revoke()
  await assert.rejects(all('ls'), /InvalidAccessKeyId/)
}

async function driveBoto3({ endpoint, bucket, files, caFile, run }: ClientSetup): Promise<void> {
  const program = fileURLToPath(new URL('./boto3_client.py', import.meta.url))
  await run('python3', program, endpoint, bucket, files, caFile)
}

async function driveRclone({
  endpoint,
  bucket,
  files,
  folder,
  accessKeyId,
  secret,
  caFile,
  run,
  wallet,
}: ClientSetup): Promise<void> {
  const rootOf = (key: { accessKeyId: string; secret: string }) =>
    `:s3,provider=Other,access_key_id=${key.accessKeyId},secret_access_key=${key.secret},region=us-east-1,endpoint="${endpoint}":`
  const remote = rootOf({ accessKeyId, secret }) + bucket
  const small = ['--s3-upload-cutoff', '6M', '--s3-chunk-size', '5M']
  const rclone = (...args: string[]) => run('rclone', '--config', '', '--ca-cert', caFile, ...small, ...args)
  await rclone('sync', files, `${remote}/a`)
  await rclone('check', '--download', files, `${remote}/a`)
  const sums = async (of: string) => (await rclone('md5sum', of)).trim().split('\n').sort()
  assert.deepEqual(await sums(`${remote}/a`), await sums(files), 'compares by MD5, without reading the bytes')
  await rclone('copy', `${remote}/a`, 'back')
  await requireSame(run, files, join(folder, 'back'))
  await rclone('copy', `${remote}/a`, `${remote}/b`)
  await rclone('moveto', `${remote}/b/large.bin`, `${remote}/b/moved.bin`)
  await rclone('check', '--download', `${remote}/a/sub`, `${remote}/b/sub`)
  assert.equal(await rclone('cat', '--offset', '1', '--count', '3', `${remote}/a/small.txt`), 'ell')
  assert.equal((await rclone('lsf', '-R', '--files-only', remote)).trim().split('\n').length, 10)
  rmSync(join(files, 'empty'))
  await rclone('sync', files, `${remote}/a`)
  assert.equal((await rclone('lsf', `${remote}/a`)).includes('empty'), false, 'a sync deletes')
  const odd = join(folder, 'odd')
  mkdirSync(odd)
  for (const name of ['urn:oid:5', '.hidden', 'back\\slash']) writeFileSync(join(odd, name), name)
  const encoded = ['--s3-encoding', 'Slash,BackSlash,Colon,Ctl,LeftPeriod,InvalidUtf8,Dot']
  await rclone('sync', odd, `${remote}/odd`, ...encoded)
  await rclone('check', '--download', odd, `${remote}/odd`, ...encoded)
  await rclone('delete', remote)
  assert.equal(await rclone('lsf', '-R', '--files-only', remote), '')

  const all = rootOf(wallet)
  const listed = (await rclone('lsf', all)).trim().split('\n')
  assert.deepEqual([listed.length, listed.at(-1)], [2, `${wallet.name}/`], 'lists all lockers, by name')
  await rclone('sync', files, `${all}${wallet.name}/a`)
  await rclone('check', '--download', files, `${all}${wallet.name}/a`)
  await rclone('copy', `${all}${wallet.name}/a`, `${all}${listed[0]}b`)
  await rclone('check', '--download', files, `${all}${listed[0]}b`)
  await wallet.revoke()
  await assert.rejects(rclone('lsf', all, '--retries', '1'), /InvalidAccessKeyId/)
}

async function driveS3cmd(setup: ClientSetup): Promise<void> {
  const { endpoint, bucket, files, folder, accessKeyId, secret, caFile, run } = setup
  const { host } = new URL(endpoint)
  const settings = { access_key: accessKeyId, secret_key: secret, host_base: host, host_bucket: host }
  const lines = Object.entries({ ...settings, ca_certs_file: caFile }).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(folder, 's3cfg'), `[default]\n${lines.join('\n')}\n`)
  const s3cmd = (...args: string[]) =>
    run('s3cmd', '-c', 's3cfg', '--no-progress', '--multipart-chunk-size-mb=5', ...args)
  const s3 = `s3://${bucket}`
  // s3cmd would retry a 5xx for most of a minute.
  const open = s3cmd('put', '--acl-public', join(files, 'small.txt'), `${s3}/open`)
  await assert.rejects(open, /AccessControlListNotSupported/)
  await s3cmd('sync', `${files}/`, `${s3}/a/`)
  mkdirSync(join(folder, 'back'))
  await s3cmd('sync', `${s3}/a/`, 'back/')
  await requireSame(run, files, join(folder, 'back'))
  await s3cmd('cp', `${s3}/a/large.bin`, `${s3}/copied.bin`)
  await s3cmd('mv', `${s3}/copied.bin`, `${s3}/moved.bin`)
  await s3cmd('get', `${s3}/moved.bin`, 'moved.bin')
  await requireSame(run, join(files, 'large.bin'), join(folder, 'moved.bin'))
  writeFileSync(join(folder, 'part.txt'), 'he')
  await s3cmd('get', '--continue', `${s3}/a/small.txt`, 'part.txt')
  assert.equal(readFileSync(join(folder, 'part.txt'), 'utf8'), 'hello')
  await s3cmd('info', `${s3}/a/small.txt`)
  await s3cmd('del', '--recursive', '--force', s3)
  assert.equal((await s3cmd('ls', '--recursive', s3)).trim(), '')
}

async function driveRestic({ endpoint, bucket, files, folder, caFile, run }: ClientSetup): Promise<void> {
  writeFileSync(join(folder, 'password'), 'secret')
  const common = ['--no-cache', '--cacert', caFile, '--password-file', 'password', '-o', 's3.bucket-lookup=path']
  const restic = (...args: string[]) => run('restic', '-r', `s3:${endpoint}/${bucket}/backup`, ...common, ...args)
  await restic('init')
  await restic('backup', 'files')
  writeFileSync(join(files, 'small.txt'), 'hello again')
  await restic('backup', 'files')
  await restic('check', '--read-data')
  await restic('forget', '--keep-last', '1', '--prune')
  await restic('restore', 'latest', '--target', 'back')
  await requireSame(run, files, join(folder, 'back/files'))
  await restic('check', '--read-data')
}

function noFuse(): string | null {
  return existsSync('/dev/fuse') ? null : 'there is no /dev/fuse'
}

async function driveS3fs(setup: ClientSetup): Promise<void> {
  const { endpoint, bucket, files, folder, accessKeyId, secret, run } = setup
  const mount = join(folder, 'mount')
  mkdirSync(mount)
  writeFileSync(join(folder, 'passwd'), `${accessKeyId}:${secret}\n`, { mode: 0o600 })
  const settings = [
    `url=${endpoint}`,
    'use_path_request_style',
    'endpoint=us-east-1',
    `passwd_file=${join(folder, 'passwd')}`,
  ]
  const parts = ['multipart_size=5', 'singlepart_copy_limit=10', 'no_check_certificate', 'ssl_verify_hostname=0']
  const options = [...settings, ...parts].flatMap((option) => ['-o', option])
  const open = async () => {
    await run('s3fs', bucket, mount, ...options)
    await run('mountpoint', mount)
  }
  await open()
  try {
    await run('cp', '-r', files, join(mount, 'a'))
    await requireSame(run, files, join(mount, 'a'))
    await run('mv', join(mount, 'a'), join(mount, 'b'))
    await run(
      'sh',
      '-c',
      'printf J | dd of=mount/b/small.txt bs=1 conv=notrunc status=none && chmod 600 mount/b/small.txt',
    )
  } finally {
    await run('umount', mount)
  }
  await open()
  try {
    writeFileSync(join(files, 'small.txt'), 'Jello')
    await requireSame(run, files, join(mount, 'b'))
    await run('rm', '-r', join(mount, 'b'))
    assert.equal(await run('ls', mount), '')
  } finally {
    await run('umount', mount)
  }
}

async function driveMc({ endpoint, bucket, files, folder, accessKeyId, secret, run }: ClientSetup): Promise<void> {
  const mc = (...args: string[]) => run('mc', '--config-dir', 'mc', '--insecure', ...args)
  await mc('alias', 'set', 'svc', endpoint, accessKeyId, secret, '--path', 'on')
  await mc('mirror', files, `svc/${bucket}/a`)
  await mc('mirror', `svc/${bucket}/a`, 'back')
  await requireSame(run, files, join(folder, 'back'))
  await mc('cp', `svc/${bucket}/a/large.bin`, `svc/${bucket}/copied.bin`)
  await mc('rm', '--recursive', '--force', `svc/${bucket}/a/`)
  assert.equal((await mc('ls', '--recursive', `svc/${bucket}`)).trim().split('\n').length, 1)
}

/** Requires that two folders have the same names and bytes. */
async function requireSame(run: ClientSetup['run'], ours: string, theirs: string): Promise<void> {
  await run('diff', '-r', ours, theirs)
}

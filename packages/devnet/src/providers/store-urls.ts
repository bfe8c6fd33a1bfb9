// Settings that name the stores of tests, as an admin writes them.

interface S3Store {
  url: string
  bucket: string
  credentials: { accessKeyId: string; secretAccessKey: string; region?: string }
}

/** `suffix` is a prefix of keys, options, or both. */
export function s3Url({ url, bucket, credentials }: S3Store, suffix = ''): string {
  const user = [credentials.accessKeyId, credentials.secretAccessKey].map(encodeURIComponent).join(':')
  return `${url.replace(/^http/, 's3+http').replace('://', `://${user}@`)}/${bucket}/${suffix}`
}

/** `keyFile` is the content of a key file. `url` may be that of a proxy before the store. */
export function gcsUrl(
  { url, bucket, keyFile }: { url: string; bucket: string; keyFile?: string },
  options: Record<string, string> = {},
): string {
  const all = { ...(keyFile && { credentials: keyFile }), endpoint: url, iam_endpoint: url, ...options }
  return `gs://${bucket}/?${new URLSearchParams(all)}`
}

const PRIVATE = [
  /^[^.:]+$/, // localhost, and names that only a local network knows
  /\.(localhost|local|internal|test)$/,
  /^127\./,
  /^10\./,
  /^192\.168\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^\[(::1\]|f[cd]..:|fe[89ab].:)/, // IPv6: this machine, private, link-local
]

/** Whether an address is of this machine or its own network: real chains are not. */
export function isPrivateHost(url: string): boolean {
  const { hostname } = new URL(url)
  return PRIVATE.some((pattern) => pattern.test(hostname))
}

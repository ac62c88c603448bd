/** The oldest version of Node that weir runs on, as `engines` in package.json says. Older ones lack functions of `node:zlib`. */
const NODE_MIN = { major: 20, minor: 19 };

/** Why this version of Node cannot run weir, or `undefined` if it can. `version` is like `20.19.0`. */
export function findNodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor)) {
    return undefined;
  }
  return `weir needs Node.js ${NODE_MIN.major}.${NODE_MIN.minor} or later; this is ${version}`;
}

/** A status of HTTP; its colour only repeats its first digit. */
export const StatusCode = ({ code }: { code: string }) => <span className={`status-code s${code[0]}`}>{code}</span>;

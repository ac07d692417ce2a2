/**
 * A log that the first version of the store wrote, in format 1 of segments, when the chain hashes of the
 * entries were still a matter of the node: group 0 with an overwritten entry, and copied forward later; group
 * 5 compacted; group 6 behind a snapshot; group 7 with a snapshot alone; group 8 dropped.
 */
import { gunzipSync } from 'node:zlib';
import { MemoryDisk } from '../disk/memory-disk.js';

export const OLD_SEGMENT_BYTES = 2048;

/** The log on a disk of its own. */
export function oldLog(): MemoryDisk {
  const disk = new MemoryDisk();
  const files: Record<string, string> = JSON.parse(gunzipSync(Buffer.from(FILES, 'base64')).toString());
  for (const [name, content] of Object.entries(files)) disk.overwrite(name, Buffer.from(content, 'base64'));
  return disk;
}

/** Gzip of a JSON object of the files, each in base64. */
const FILES = [
  'H4sIAAAAAAACA+1caa+ySBb+L+9XZiIuuEwyH9gXAQVk85uCArKJyjqZ/z652FeBru5+Y9Kt6eHJzc2JSB0o6jznqVOF//kR7i7+j3/9',
  'kNRCVcghpvopopsChkooimIO+o0gf5gs2qNHjx49evTo0aNHjx49evTo0aNHjx7/7yApQSNdUdI43kzJge+QX58aj+Oc+jDxvrd6vBE/',
  '/vHjenDCQ3T7J/zE/HtlgBIpOU9O0vko1ysDqNM499vG5MdHIsp8m9cpLlh538M9/mxgNZ2a1TUjh2TriMSvnBMjNKkZe5yFAkgYvxAx',
  '7Joj9gxD2WyADXV7O08NeSeNY2KzOOnbzDbuC2HZ1z/WnQtLTWm0/9XyaVXON5j0vED028Yb1/c8zuQL+SQwvDZIpcGBO0yh9DRFyumt',
  'GhZ+theDfSSXBwWthBL7APt+0XWnEzQ9cMTN86ZYFGVx9kjgQeP+cWC6k37/qeKP4/j8679fpItj0Dmp9i9QoOfLOuivH7Ww52JxWF0o',
  'C0bRTVYMRDvd3awtP6p4e0eZupbaDIewhACz9AfY98u/37SiaUagtvrP4YR9ZkyoVv9/WxLg/sHgHhZfE3aYw8lZczrf+vLvNP0/xvKp',
  'Pf5/GdQ2ZGipGUPQLKWWS9UdZxDijXVXJzeYy6+3OgJbke8Ilep8gl1fdN2ThCqsxzstb/YfjnJXcZlI6q/TH4p6oPsHw39YNX+I+EUk',
  'ArMzqGv/YP6QQPEj2kNtNSUh3PcSWqmMhBPPAZmbSgVx5AQ7P2JX9LAPsBv8scQIFZe3rf5jCSmpJATMH8LL/BFUgpIO4/aXav8SkD84',
  'UPyQqkKngzVl8Rt+lZlHL9/s6MiTV+jO46w4e/LHuBHH77Mb/GFvljc9uHb4w6rIyxXIHxz6An+8B/8Gq9hFS8VeEBOPjfuo8UEq1nqO',
  'CuehYutec3qN1ePPxp2lsCSWplpn2sSo5UWLwSwFUjmckRiU6J7thQYr8xupbi+TZMoGpbe4MSdCDB8MMWmwxfvsBktJJSYRAdxmKXSX',
  'kCsfzFKvq5y9DtMjoxPbtX+wyolAWV7Gzqqd4cjWv2hrzc6pET7ELvIkr3aJcxPIp8LwnU+wnyoH5ylkvTc6Koce3rCbA1Q54csqhxKV',
  '0pA7PX33D1Y5DiDL49ARTX2lmjhxtr7klelvIDpOYn6DiSUxpe1vhQELOPYBdkvlHGk4cNsqB9uo1wAGqxzrBZWD1UExtNawq7e3ajq1',
  '/2b8CL8fP2D+qPkp2RumHgrtixANYsGqQH5agtpfU0w8IE0IqsQDDnMTptycFpnlQG7EFxY/eagoqXjyxBvtBj+JW7Y40W0V7izD4YiK',
  'gfy0RF/lJ3wpBc5h23n+tX8UyE8JKD7Z7LQO5VMYwVv97IYBeyXGV3xu4BBt+Q4nfXODSLDOJ9iNWdh4I539rdPmJ8/nTAbMT+dX+OmD',
  'AFaxQ7ilYmPeOzrUnRVikIp9ZinuqWIXMLzc9hKrx1+kYtczQVFCq31obYt4CJ5rL3MASxJaEI0vqDujMywfUn5FjddMWrMWRqKz0UPF',
  'SlWDrd9nN7JERkJrUm+rGIeAKtL/jSzhvJolCIfiqvOukyVq/xIwS1xBLIntzwhFRzaueIacqbOtpEkhKqOrxRlK9AP3ZGjJ+QS7oWKP',
  'cOqEu06WmGCKNQXX6i4vq1g+SEwHuXTGe+0frGJhkIrzoWgeJRSHr4uFNcXSOeZH1jEJIk/HlxvRfShIUcE+wG6oWG4+OW+K9vhhcWQX',
  'siuwis1frtXtppehpMOdkf/lPwfyBw+s9W9ynVwf5IMZzBhIWzJDRIELx/Mrk1HcuTl6xO6oEcfvsxv8sa2mBqNP2vxBp8lCJYH8wb8+',
  'Cx452VredwoOtX8wf2Sg+BEukKTQQ3a5MFX0Etz26FGyXDg+0uu1hNvqM3Yt5xPsJ3+gt2WgQBba5g8x5isYzB/pK/xRt7RayDuKXXXi',
  'R62wdA+Mn+YLdz8dP5+qYoftHQW2rsrq/a6uIBVbPD6injsKeOWsZn0ttsdfpGJXISbZTCfKcTjR+AkwCwmguf6K3TGYMkJK8UBj1Nw8',
  '3hg5iGpWDMs03j8zQKMm+ka7kYXGylqdM2xHxZ4dlZHAWSh/IQuRXwGNDbcSYbV3C+F3/81ax/P4DcTCxRozpQVCIZ5xPSJqfDQCfnNX',
  'yZrIRLTduQhbV9ExuJZSAGu9s8mY0CB3fsG81SEWZkKunM/XS0IXC04hmGeG8Z1PsJ9ZDoOWErWzpXaWG25kpADXUvKXVfJyflZIbNT+',
  'zt0/UCUToCyHRXiuuRtT1I8IjE3zYL2FaeOoqE4BTRH98ljRHjZqrm+0G1mexs+2U4w7WT5bqi4KzPIE+bJKHhBceYw6CbH2D1bJAig+',
  'hWyWJTfcWhTK6MbP9kVoIGWUploy1eRrmT1Ustqoib7RbvCTf8xmKuO3+Wmdl1YE3hEjvDzLxqskCC+HTlfX/sH8AQNV8phf7BQXO5qo',
  'RyHDsVIxthmoe+ECbYOAOj9id9Ooib7RbtRit8GkOBw6a0XX6Xmb5ED+qP6etdhRS8We9cCJxHvU5iAVOwfVYkfbg2D0KrbHX6Riz+it',
  'SqPOBF8MjRMFVrEiqJZAj/aBPorRAjrsJ87yQubQdUnXrMUH1Mx71GLVRk30jXYjSyRzxfCNzo6CpcRbM3AtVnx5xQ5DSmt9PnZiu/YP',
  'rqWMQCxpJji7mkyPK7G8TbiFJ0OLvPAQ+TC5nBBT2T8ZulETfaPdqKWwuD+sjp0scbAi4jdqscOXVaZoENNr2f1S7R+sMoEr6kM/ymcR',
  'nIZSGHzlu5NnXsIJpJPhVDdxiHsovEZN9I12Q2Xys5E0HmFtlUloOXQRwCrTfFllOrxIM3Hnx59q/zCQP1bA+BG90TiYF5C0Tuez6dk8',
  '+woTBiGaeYmc7+Vn7DZqom+0G/xB0INoZrb3nTosXskuWGWKL8+C8WnBjxy3/TTu/iXgLHj40/xxqU8a89Xs6naef3pVFjFYxSKg9tMj',
  'zs3zAjeSAS+PZhFzG1jU0rdoWFll3A15ckOj5vpGu8FPWgEzkttZKxLLOTRDgfw0+Xuq2HF7Xyzlh9L0zgowQMXiDEjFUpaNwb3E6vEX',
  'qViL8QzR7OwowAxGslFwFgLN9bEw5fzrendIpQJX8C0rYANzVbMWAtNG+MwAjZroG+1GFioPSSxMOjsKGGwSVCowC62kl7MQQ+B64XWy',
  'RO2/OYkAZrknS3Izo8TGY2kTLiLVLWWJO2L7oD40Rbkp63Wej5vnwVVCQSxMAlfEgHiOD7Uu28jrYrLjW+eTd//NUfRURMAVt+h2ZJmj',
  'ja32I1thOAoN5lRqjMbXPYucvEMA26NfJvqUWm9eHaM3vPFKFPH1x5EDxm3ODCShcfzX/g/RlFQcT8M9+oQhknIwrQ0x+fIX1m8j2rRb',
  'bnX1ER9oaMOnuMPIS8LCYRYcH6Dnh03yHeoGWYwdY+yGMPlAnMSDSNoezE1uDvjnLA9pjNP32Y344NJopsSdFXOUi2wWrNJWL9cCMa6k',
  'Su7UmVDX/sH7xueg+HCGXEau3NF0tqqQ2XQM71awA8/pdYnwohIWDwVzQp1PsBtrCeGKTXO/s2KuWK7lgWd5s1dUVD3ZwVLUs1O5Q/q1',
  'fwzED81943/w5nl9pZQ25Tiv/fYui+4dNto32sdfab9xvfXGyyQrI45r75t2av8ODYrPxr5p4o9dcNHoOGYjfZtZkYzw+iLdSn8bAfAb',
  'KnbS3lHg8pctcWftCUjFPocm89xRUD+VXmL1+NNxfztDy28yw3VCc3mZn0uJAUkPHLgvCNh+/c2pJ44rpPOOOGXxqpwzoCz48+03QNU/',
  'EU6YxfIaOO1aRe0/d0BZEPv5LFCTXq6MFtZ29M1k9/5LCMJ2zu1ZgEOKJzLJ2Q639+jRo0ePHp+hYv/7P3tz3aZ1YwAA',
].join('');

import sys
s="def f(a):\n"+''.join(f"    if a > {i}:\n        return g({i})\n" for i in range(10))+"    return 0\n"
if sys.argv[1]=='fork': s=s.replace("return g(5)","return g(5, a)")
if sys.argv[1]=='up': s=s.replace("    ","\t")
open('a.py','w').write(s)
